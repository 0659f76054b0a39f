// Reads {secret, requests} from standard input and verifies each request with the library of the specification Standard
// Webhooks. Prints how many are genuine.
import { Webhook } from "standardwebhooks";

let input = "";
for await (const chunk of process.stdin) {
  input += chunk;
}
const { secret, requests } = JSON.parse(input);
const webhook = new Webhook(secret);
let genuine = 0;
for (const { id, timestamp, signature, body } of requests) {
  try {
    webhook.verify(body, { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature });
    genuine++;
  } catch (error) {
    console.error(error.message);
  }
}
console.log(genuine);
