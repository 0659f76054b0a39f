// Makes a payment, repeats it, makes payments in bulk, and reads the resulting balance; prints the answers as JSON.

import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { BillingClient } from './client.js';

const { values } = parseArgs({
  options: {
    proxy: { type: 'string', multiple: true, default: ['localhost:5000'] },
    protos: { type: 'string', default: '../../src/Contracts/Protos' },
    account: { type: 'string', default: 'acct-42' },
    type: { type: 'string', default: 'PAYMENT_TYPE_VISA' },
    count: { type: 'string', default: '100' },
  },
});
const payment = (units) => ({
  transaction_id: randomUUID(),
  account_id: values.account,
  payment_type: values.type,
  amount: { currency_code: 'USD', units, nanos: 0 },
});

const client = new BillingClient(values.proxy, values.protos);
const first = payment(5);
const paid = await client.makePayment(first);
const again = await client.makePayment(first);
const outcomes = {};
let version = paid.version;
for await (const answer of client.makePayments(Array.from({ length: Number(values.count) }, () => payment(1)))) {
  const outcome = answer.payment?.outcome ?? answer.error.reason;
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  version = String(Math.max(Number(version), Number(answer.payment?.version ?? 0)));
}
const balance = await client.checkBalance({
  account_id: values.account,
  payment_type: values.type,
  min_version: version,
});
client.close();
console.log(JSON.stringify({ paid, again, outcomes, balance }, null, 2));
