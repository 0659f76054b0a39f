// The page: shows the events that the proxy sends each second.

import { seconds, sparkline } from './charts.js';
import { byId, clock, count, milliseconds, say } from './dom.js';
import { token, watch } from './feed.js';
import { failures, kafka, legend, payments, sum } from './tables.js';
import * as way from './way.js';

let hello = null;
let history = [];
let lags = [];
let latest = null;
let isPaused = false;

function onHello(message) {
  hello = message;
  history = message.history.slice(-seconds);
  lags = [];
  live();
  say(byId('where'), `${location.host} · ${message.transport}`);
  say(byId('in-flight-max'), count(message.inFlightMax));
  say(
    byId('window'),
    `Charts: the last two minutes, recorded since ${clock(message.since)}. ` +
      'Latency: answered calls of the last ten seconds.'
  );
}

function onSnapshot(snapshot) {
  history = [...history.filter(second => second.at < snapshot.seconds[0].at), ...snapshot.seconds].slice(-seconds);
  const waiting = snapshot.kafka?.topics.length ? sum(snapshot.kafka.topics.map(topic => sum(topic.lags))) : null;
  lags = [...lags, waiting].slice(-seconds);
  latest = { snapshot, waiting };
  if (!isPaused) {
    draw();
  }
}

function draw() {
  const { snapshot, waiting } = latest;
  const second = snapshot.seconds.at(-1);
  figures(second, snapshot, waiting);
  charts(second, snapshot, waiting);
  kafka(snapshot.kafka, hello.instead);
  failures(snapshot.failures, hello.since);
  payments(snapshot.payments);
  way.know(hello.transport, snapshot.kafka);
}

function figures(second, { latency, inFlight, ofStreams, kafka: view }, waiting) {
  say(byId('rate'), count(second.answered));
  say(byId('failed'), count(second.failed));
  byId('failed').classList.toggle('bad', second.failed > 0);
  for (const name of ['p50', 'p95', 'p99']) {
    say(byId(name), milliseconds(latency[name]));
  }
  say(byId('in-flight'), count(inFlight));
  say(byId('streams'), count(ofStreams));
  say(byId('lag-total'), count(waiting));
  say(byId('letter-count'), count(view?.deadLetterCount));
  byId('letter-count').classList.toggle('bad', view?.deadLetterCount > 0);
}

function charts(second, { latency, inFlight }, waiting) {
  const of = name => history.map(entry => entry[name]);
  const most = values => count(Math.max(0, ...values.map(value => value ?? 0)));
  sparkline(
    byId('rate-chart'),
    `Throughput of the last two minutes: now ${count(second.answered)} per second, ` +
      `at most ${most(of('answered'))}; failed, at most ${most(of('failed'))}`,
    [
      { name: 'main', values: of('answered'), area: true },
      { name: 'bad', values: of('failed').map(value => value || null) },
    ]
  );
  sparkline(
    byId('latency-chart'),
    `Latency of the last two minutes in milliseconds: p50 ${milliseconds(latency.p50)}, ` +
      `p99 ${milliseconds(latency.p99)}, at most ${most(of('p99'))}`,
    [
      { name: 'faint', values: of('p99') },
      { name: 'main', values: of('p50'), area: true },
    ]
  );
  sparkline(
    byId('flight-chart'),
    `Calls in flight in the last two minutes: now ${count(inFlight)}, at most ${most(of('inFlight'))}`,
    [{ name: 'main', values: of('inFlight'), area: true }]
  );
  sparkline(byId('lag-chart'), `Lag in Kafka while you watch: now ${count(waiting)}, at most ${most(lags)}`, [
    { name: 'main', values: lags, area: true },
  ]);
}

function state(name, text) {
  byId('status').dataset.state = name;
  say(byId('status-text'), text);
  document.body.classList.toggle('lost', name !== 'live' && name !== 'paused');
}

function live() {
  state(isPaused ? 'paused' : 'live', isPaused ? 'Paused' : 'Live');
}

// What moves can be stopped, to be read; the events go on to arrive.
function pause() {
  isPaused = !isPaused;
  say(byId('pause'), isPaused ? 'Resume' : 'Pause');
  if (['live', 'paused'].includes(byId('status').dataset.state)) {
    live();
  }
  if (!isPaused && latest) {
    draw();
  }
}

function broken(message) {
  state('broken', `This page has an error, reload it: ${message}`);
}

let why = '';

function askForToken(status) {
  state('refused', status === 401 ? 'Waiting for a token' : 'This token has no permission to watch');
  token.forget();
  byId('token').hidden = false;
  byId('token-value').focus();
  return new Promise(resolve => {
    byId('token-form').onsubmit = event => {
      event.preventDefault();
      token.set(byId('token-value').value.trim());
      byId('token-value').value = '';
      byId('token').hidden = true;
      state('connecting', 'Connecting');
      byId('main').focus();
      resolve();
    };
  });
}

const handlers = {
  hello: onHello,
  snapshot: onSnapshot,
  lost: reason => {
    why = reason;
    state('lost', `Connection lost. ${why} Reconnecting.`);
  },
  // An attribute, so that a screen reader does not read the countdown out each second.
  retry: left => byId('status').setAttribute('data-left', `${left} s`),
  refused: askForToken,
};

addEventListener('error', event => broken(event.message));
addEventListener('unhandledrejection', event => broken(event.reason?.message ?? event.reason));
byId('pause').addEventListener('click', pause);
legend();
way.begin();
kafka(null, null);
failures([], null);
payments([]);
for (const chart of ['rate', 'latency', 'flight', 'lag']) {
  sparkline(byId(`${chart}-chart`), 'No data yet', [{ name: 'main', values: [] }]);
}
watch((name, data) => handlers[name]?.(data));
