// A payment made on the page, or put on hold, and its path through the system, as an animated picture.

import * as after from './after.js';
import { byId, make, milliseconds, money, say } from './dom.js';
import { amountIn, busy, clear, refused, tell } from './outcome.js';
import { put } from './requests.js';
import { durations, partitionOf } from './steps.js';
import { memberName } from './tables.js';

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
const playMs = 2600;
const shortestMs = 160;
const fields = {
  'account_id': 'account',
  'payment_type': 'type',
  'amount': 'amount',
  'amount.units': 'amount',
  'amount.nanos': 'amount',
  'amount.currency_code': 'currency',
};

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
    busy(() => pay(event.submitter?.id === 'hold' ? 'v1/authorisations' : 'live/payments'));
  });
  after.begin();
}

/** Sets what the picture knows about topics and backends. */
export function know(transport, view) {
  picture = { transport, view };
}

async function pay(path) {
  const request = read();
  if (!request) {
    return;
  }
  reset(request);
  const sent = performance.now();
  const { id, response, answer } = await put(path, request);
  const took = performance.now() - sent;
  if (!response) {
    tell(
      'failed',
      'No answer arrived. The payment may or may not be recorded. Try again to find out: it is charged only once.'
    );
    mark('client', 'failed');
  } else if (!response.ok) {
    mark('proxy', 'failed');
    refused(response.status, answer, fields);
  } else {
    await arrived(answer, JSON.parse(response.headers.get('billing-steps') ?? 'null'), took);
    if (answer.outcome === 'ACCEPTED') {
      await after.show(id, request, answer.version);
    }
  }
}

function read() {
  const field = name => byId(name).value.trim();
  clear();
  const amount = amountIn('amount', field('currency').toUpperCase());
  return amount && { account_id: field('account'), payment_type: field('type'), amount };
}

function decision(answer, accepted) {
  if (!accepted) return `Declined: ${answer.decline_reason}`;
  return answer.expire_time ? 'On hold' : 'Accepted';
}

async function arrived(answer, steps, took) {
  const balance = answer.balance ? ` Balance ${money(answer.balance)}, version ${answer.version}.` : '';
  if (steps) {
    await play(steps, took);
  } else {
    // The steps of payments alone are timed.
    mark('proxy', 'passed');
    mark('answer', 'passed', 'gets the answer', `${milliseconds(took)} ms in total`);
  }
  const accepted = answer.outcome === 'ACCEPTED';
  tell(
    accepted ? 'accepted' : 'declined',
    `${decision(answer, accepted)} after ${milliseconds(took)} ms.${balance}`
  );
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
  after.forget();
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
