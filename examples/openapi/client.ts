// A payment, a hold, a capture, a refund, a statement, and an error of each kind, with the types that
// openapi-typescript generates.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { argv: string[] };

const [server, token, readOnly, account] = process.argv.slice(2);
const clientOf = (authorization?: string) =>
  createClient<paths>({ baseUrl: server, headers: { Authorization: authorization } });
const billing = clientOf(`Bearer ${token}`);

const holder = { account_id: account, payment_type: "VISA" } as const;
const dollars = (units: string, nanos = 0): components["schemas"]["Amount"] => ({ currency_code: "USD", units, nanos });
const path = (transaction_id: string) => ({ path: { transaction_id } });
const newId = () => crypto.randomUUID();

function need<T>(answer: { data?: T; error?: components["schemas"]["Problem"] }): T {
  if (answer.data === undefined) {
    throw new Error(JSON.stringify(answer.error));
  }
  return answer.data;
}

function problem(answer: { error?: components["schemas"]["Problem"] }) {
  return [answer.error?.status, answer.error?.reason, answer.error?.field].filter(part => part !== undefined).join(" ");
}

const pay = (client: typeof billing, id: string, amount: components["schemas"]["Amount"]) =>
  client.PUT("/v1/payments/{transaction_id}", {
    params: path(id),
    body: { ...holder, amount, notes: { reference: "order 7" } },
  });
const refund = (payment_id: string, amount: components["schemas"]["Amount"]) =>
  billing.PUT("/v1/refunds/{transaction_id}", {
    params: path(newId()),
    body: { ...holder, payment_id, amount },
  });
const find = (id: string) =>
  billing.POST("/v1/transactions/{transaction_id}/lookup", { params: path(id), body: holder });

const [payment, hold] = [newId(), newId()];
const paid = need(await pay(billing, payment, dollars("12", 340_000_000)));
const again = need(await pay(billing, payment, dollars("12", 340_000_000)));
const held = need(await billing.PUT("/v1/authorisations/{transaction_id}", {
  params: path(hold), body: { ...holder, amount: dollars("5"), hold_duration: "60s" },
}));
const captured = need(await billing.PUT("/v1/captures/{transaction_id}", {
  params: path(newId()), body: { ...holder, payment_id: hold, amount: dollars("3"), is_final: true },
}));
const refunded = need(await refund(payment, dollars("2")));
const balance = need(
  await billing.GET("/v1/accounts/{payment_type}/{account_id}/balance", {
    params: { path: holder, query: { min_version: refunded.version } },
  })
);
const statement = need(
  await billing.GET("/v1/accounts/{payment_type}/{account_id}/statement", { params: { path: holder } })
);
const listed = need(await billing.POST("/v1/statements/lookup", { body: { ...holder, types: ["PAYMENT_REFUNDED"] } }));
const found = need(await find(payment));

// The answer to a payment that was only queued would be another.
if (!("outcome" in paid && "outcome" in again)) {
  throw new Error("queued");
}
console.log(JSON.stringify({
  paid: paid.outcome,
  again: again.version === paid.version,
  held: held.outcome,
  captured: captured.charged.units,
  refunded: refunded.refunded.units,
  balance: `${balance.balance.units} ${balance.balance.nanos}`,
  entries: statement.entries.map(entry => entry.type),
  listed: listed.entries.length,
  found: found.entry.notes?.reference,
  badField: problem(await pay(billing, newId(), dollars("0"))),
  noToken: problem(await pay(clientOf(), newId(), dollars("1"))),
  noScope: problem(await pay(clientOf(`Bearer ${readOnly}`), newId(), dollars("1"))),
  notFound: problem(await find(newId())),
  reused: problem(await pay(billing, payment, dollars("1"))),
  tooMuch: problem(await refund(payment, dollars("100"))),
}));
