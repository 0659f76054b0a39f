// What is done with the payment that was made on the page last: captured, voided, given back.

import { byId, milliseconds, money, say } from './dom.js';
import { amountIn, busy, clear, refused, tell } from './outcome.js';
import { ask, put } from './requests.js';

const actions = {
  capture: { path: 'v1/captures', done: answer => `Captured ${money(answer.amount)}` },
  void: { path: 'v1/voids', done: answer => `Released ${money(answer.released)}`, isWhole: true },
  refund: { path: 'v1/refunds', done: answer => `Gave ${money(answer.amount)} back` },
};

let payment = null;

export function begin() {
  for (const [id, action] of Object.entries(actions)) {
    byId(id).addEventListener('click', () => busy(() => follow(action)));
  }
}

/** Forgets the payment. */
export function forget() {
  payment = null;
  byId('after').hidden = true;
}

/** Shows a payment that was made or put on hold, and what can be done with it. */
export async function show(id, request, version) {
  payment = { id, request };
  byId('part').value = byId('amount').value.trim();
  await look(version);
}

async function follow({ path, done, isWhole }) {
  const { account_id, payment_type, amount } = payment.request;
  clear();
  const part = isWhole ? undefined : amountIn('part', amount.currency_code);
  if (part === null) {
    return;
  }
  const sent = performance.now();
  const { response, answer } = await put(path, { account_id, payment_type, payment_id: payment.id, amount: part });
  const took = performance.now() - sent;
  if (!response) {
    tell('failed', 'No answer arrived. It may or may not be done. Try again to find out: it is done only once.');
  } else if (!response.ok) {
    refused(response.status, answer, { amount: 'part', 'amount.units': 'part', 'amount.nanos': 'part' });
  } else {
    tell(
      'accepted',
      `${done(answer)} after ${milliseconds(took)} ms. Balance ${money(answer.balance)}, version ${answer.version}.`
    );
    await look(answer.version);
  }
}

function restriction({ account_status }) {
  return account_status === 'OPEN' ? '' : `, ${account_status.toLowerCase()}`;
}

const totals = paid =>
  `Charged ${money(paid.charged)}, given back ${money(paid.refunded)}, on hold ${money(paid.held)}. `;

const standing = account =>
  `The account: balance ${money(account.balance)}, on hold ${money(account.on_hold)}, ` +
  `available ${money(account.available)}${restriction(account)}.`;

// The balance includes what was done last.
async function look(version) {
  const { id, request: { account_id, payment_type } } = payment;
  const [found, account] = await Promise.all([
    ask('POST', `v1/transactions/${id}/lookup`, { account_id, payment_type }),
    ask('GET', `v1/accounts/${payment_type}/${account_id}/balance?min_version=${version}`),
  ]);
  byId('after').hidden = false;
  say(
    byId('totals'),
    found.response?.ok && account.response?.ok
      ? totals(found.answer.payment) + standing(account.answer)
      : 'What has become of it could not be read.'
  );
}
