// A payment made on the page, and its path through the system, as an animated picture.

import { headers } from './feed.js';
import { byId, make, milliseconds, say } from './dom.js';
import { durations, partitionOf } from './steps.js';
import { memberName } from './tables.js';

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
const playMs = 2600;
const shortestMs = 160;

const stations = [
  { id: 'client', name: 'Client' },
  { id: 'proxy', name: 'Proxy' },
  { id: 'kafka', name: 'Kafka' },
  { id: 'backend', name: 'Payment backend' },
  { id: 'store', name: 'PostgreSQL' },
  { id: 'replies', name: 'Reply topic' },
  { id: 'back', name: 'Proxy' },
  { id: 'answer', name: 'Client' },
];

let picture = null;
let pending = null;
let playing = 0;

/** Draws the picture without a payment. */
export function begin() {
  byId('way').replaceChildren(...stations.map(station => make('li', { id: `at-${station.id}`, 'data-state': 'idle' },
    make('span', { class: 'dot', 'aria-hidden': 'true' }),
    make('span', { class: 'name' }, station.name),
    make('span', { class: 'detail' }),
    make('span', { class: 'time' }))));
  byId('pay-form').addEventListener('submit', event => {
    event.preventDefault();
    pay();
  });
}

/** Sets what the picture knows about topics and backends. */
export function know(transport, view) {
  picture = { transport, view };
}

async function pay() {
  const request = read();
  if (!request) {
    return;
  }
  // A retry after no answer is the same payment, with the same id: it is never charged twice.
  const text = JSON.stringify(request);
  pending = pending?.text === text ? pending : { text, id: newId() };
  reset(request);
  byId('pay-button').disabled = true;
  try {
    const sent = performance.now();
    const { response, answer } = await send(text);
    const took = performance.now() - sent;
    if (!response) {
      tell('failed', 'No answer arrived. The payment may or may not be recorded. Pay again to find out: it is charged only once.');
      mark('client', 'failed');
      return;
    }
    pending = response.status < 500 ? null : pending;
    const steps = JSON.parse(response.headers.get('billing-steps') ?? 'null');
    await (response.ok ? arrived(answer, steps, took) : refused(response.status, answer));
  } finally {
    byId('pay-button').disabled = false;
  }
}

async function send(text) {
  try {
    const response = await fetch(`live/payments/${pending.id}`, {
      method: 'PUT', body: text, headers: headers({ 'Content-Type': 'application/json' }),
    });
    return { response, answer: await response.json() };
  } catch {
    return {};
  }
}

function read() {
  const field = name => byId(name).value.trim();
  clear();
  const amount = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(field('amount'));
  if (!amount) {
    blame('amount', 'The amount must be a number such as 12.34.');
    return null;
  }
  return {
    account_id: field('account'),
    payment_type: field('type'),
    amount: { currency_code: field('currency').toUpperCase(), units: amount[1], nanos: Number((amount[2] ?? '').padEnd(9, '0')) },
  };
}

async function arrived(answer, steps, took) {
  const balance = answer.balance ? ` Balance ${money(answer.balance)}, version ${answer.version}.` : '';
  if (steps) {
    await play(steps, took);
  }
  const accepted = answer.outcome === 'ACCEPTED';
  tell(accepted ? 'accepted' : 'declined',
    `${accepted ? 'Accepted' : `Declined: ${answer.decline_reason}`} after ${milliseconds(took)} ms.${balance}`);
}

function refused(status, problem) {
  const fields = { account_id: 'account', payment_type: 'type', amount: 'amount', 'amount.units': 'amount', 'amount.nanos': 'amount', 'amount.currency_code': 'currency' };
  mark('proxy', 'failed');
  if (fields[problem.field]) {
    blame(fields[problem.field], problem.detail);
  } else {
    tell('failed', status === 401 || status === 403 ? 'You have no permission to pay here.' : `${problem.reason ?? status}: ${problem.detail}`);
  }
}

// Plays the steps in slow motion, since they take only milliseconds.
async function play(payment, took) {
  const run = ++playing;
  const [produce, wait, decide, store, reply, back] = durations(payment.times);
  const inside = (payment.times.answered - payment.times.received) / 1000;
  const way = [
    ['proxy', Math.max(0, took - inside), 'HTTP, both ways'],
    ['kafka', produce.value, null],
    ['backend', wait.value, null],
    ['store', decide.value + store.value, store.taken ? 'decided and stored' : 'stored before'],
    ['replies', reply.value, 'of this proxy'],
    ['back', back.value, 'passes it on'],
    ['answer', 0, 'gets the answer'],
  ];
  const all = Math.max(took, Number.EPSILON);
  mark('client', 'passed', 'sends it', '0 ms');
  for (const [id, value, text] of way) {
    if (!reducedMotion.matches) {
      const duration = shortestMs + value / all * playMs;
      byId(`at-${id}`).style.setProperty('--leg', `${duration}ms`);
      mark(id, 'coming');
      await new Promise(resolve => setTimeout(resolve, duration));
      if (run !== playing) {
        return;
      }
    }
    mark(id, 'passed', text, id === 'answer' ? `${milliseconds(took)} ms in total` : `+${milliseconds(value)} ms`);
  }
}

function reset(request) {
  playing++;
  tell('waiting', 'In flight …');
  for (const { id } of stations) {
    mark(id, 'idle', '', '');
  }
  mark('client', 'passed', request.account_id, '');
  byId('at-proxy').style.setProperty('--leg', '1200ms');
  mark('proxy', 'coming');
  place(request);
}

// The payment type determines the topic, and the account the partition and with it the backend.
function place(request) {
  const topic = `billing.payments.${request.payment_type.toLowerCase()}`;
  const found = picture?.view?.topics.find(({ name }) => name === topic);
  if (!found) {
    mark('kafka', 'idle', picture?.transport === 'kafka' ? topic : `no Kafka: ${picture?.transport ?? 'unknown'}`);
    return;
  }
  const partition = partitionOf(request.account_id, found.lags.length);
  mark('kafka', 'idle', `${topic.replace('billing.', '')} / ${partition}`);
  const owner = picture.view.members.find(member => member.owns[topic]?.includes(partition));
  mark('backend', 'idle', owner ? memberName(owner).split(' ').at(-1) : 'none at the moment');
}

function mark(id, state, detail = null, time = null) {
  const station = byId(`at-${id}`);
  station.dataset.state = state;
  if (detail !== null) {
    say(station.querySelector('.detail'), detail);
  }
  if (time !== null) {
    say(station.querySelector('.time'), time);
  }
}

function tell(state, text) {
  byId('outcome').dataset.state = state;
  say(byId('outcome'), text);
}

function blame(id, text) {
  tell('failed', text);
  byId(id).setAttribute('aria-invalid', 'true');
  byId(id).setAttribute('aria-describedby', 'outcome');
  byId(id).focus();
}

function clear() {
  for (const input of byId('pay-form').querySelectorAll('[aria-invalid]')) {
    input.removeAttribute('aria-invalid');
    input.removeAttribute('aria-describedby');
  }
}

const money = ({ currency_code: currency, units, nanos }) => {
  const negative = String(units).startsWith('-') || nanos < 0;
  const cents = String(Math.abs(nanos)).padStart(9, '0').replace(/0{1,7}$/, '');
  return `${negative ? '−' : ''}${String(units).replace('-', '')}.${cents} ${currency}`;
};

// crypto.randomUUID exists only over TLS or on localhost.
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = bytes[6] & 0x0f | 0x40;
  bytes[8] = bytes[8] & 0x3f | 0x80;
  const hex = [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
