// The tables. A table is redrawn only when its data has changed, so that reading it is not interrupted.

import { bar } from './charts.js';
import { byId, clock, count, make, milliseconds, say, shortTopic } from './dom.js';
import { durations, legs, total } from './steps.js';

const shown = new Map();

/** Draws a section's body if its data has changed. */
function show(section, data, build) {
  const text = JSON.stringify(data);
  if (shown.get(section) !== text) {
    shown.set(section, text);
    byId(section).querySelector('.body').replaceChildren(build());
  }
}

const empty = text => make('p', { class: 'empty' }, text);

function table(caption, heads, rows) {
  return make('table', {},
    make('caption', { class: 'unseen' }, caption),
    make('thead', {}, make('tr', {}, ...heads.map(([text, kind]) => make('th', { scope: 'col', class: kind }, text)))),
    make('tbody', {}, ...rows));
}

const row = (head, ...cells) => make('tr', {}, make('th', { scope: 'row' }, ...head), ...cells);
const cell = (kind, ...children) => make('td', { class: kind }, ...children);
const main = (...texts) => make('span', { class: 'main' }, ...texts);
const detail = text => text ? make('span', { class: 'detail' }, text) : null;

/** Shows the state of the brokers: lag, group members, dead letters. */
export function kafka(view, instead) {
  const state = instead ? '' : !view ? 'Querying the brokers …'
    : view.problem ? `Incomplete${view.at ? ` since ${clock(view.at)}` : ''}: ${view.problem}` : '';
  for (const element of document.querySelectorAll('.kafka-state')) {
    say(element, state);
    element.classList.toggle('bad', Boolean(view?.problem));
  }
  for (const section of ['lag', 'backends', 'letters']) {
    byId(section).classList.toggle('stale', Boolean(view?.problem));
  }
  for (const element of document.querySelectorAll('.over-kafka')) {
    element.hidden = Boolean(instead || !view || view.problem);
  }
  if (instead || !view) {
    for (const section of ['lag', 'backends', 'letters']) {
      show(section, instead ?? null, () => empty(instead ?? 'No data yet.'));
    }
    return;
  }
  show('lag', view.topics, () => lag(view.topics));
  show('backends', view.members, () => members(view.members));
  show('letters', [view.deadLetterCount, view.deadLetters], () => letters(view.deadLetterCount, view.deadLetters));
}

function lag(topics) {
  if (topics.length === 0) {
    return empty('There are no topics yet.');
  }
  return table(
    'Commands whose offsets are not committed yet, by topic and partition',
    [['Topic', 'most'], ['Lag', 'number'], ['By partition']],
    topics.map(topic =>
      row(
        [main(...topicName(topic.name))],
        cell('number', count(sum(topic.lags))),
        cell(
          '',
          make(
            'ul',
            { class: 'chips' },
            ...topic.lags.map((waiting, partition) =>
              make(
                'li',
                { class: waiting === 0 ? 'none' : waiting < 1000 ? 'some' : 'many' },
                make(
                  'span',
                  { class: 'index' },
                  make('span', { 'aria-hidden': 'true' }, `p${partition}`),
                  make('span', { class: 'unseen' }, `partition ${partition}: `)
                ),
                count(waiting)
              )
            )
          )
        )
      )
    )
  );
}

// May wrap after a dot if the column is narrow.
const topicName = topic =>
  shortTopic(topic)
    .split(/(?<=\.)/)
    .flatMap((part, index) => (index ? [make('wbr'), part] : [part]));

const roles = { 'billing-payments': 'Payment backend', 'billing-balances': 'Balance backend' };

/** The name shown for a member: its role, and the beginning of its member id. */
export const memberName = member =>
  `${roles[member.group] ?? member.group} ${member.id.replace(`${member.group}-`, '').slice(0, 6)}`;

function members(all) {
  if (all.length === 0) {
    return empty('No backend is a member of its group: no command is processed at the moment.');
  }
  return table(
    'Backends and their assigned partitions',
    [['Backend', 'half'], ['Partitions']],
    all.map(member => {
      const owned = Object.entries(member.owns);
      return row(
        [main(memberName(member)), detail(`at ${member.host}`)],
        cell(
          '',
          owned.length === 0
            ? detail('none yet')
            : make(
                'ul',
                { class: 'chips' },
                ...owned.map(([topic, partitions]) =>
                  make('li', { class: 'some' }, `${topic.split('.').at(-1)} ${partitions.join(', ')}`)
                )
              )
        )
      );
    })
  );
}

function letters(all, newest) {
  if (all === 0) {
    return empty('None: every record could be read and processed.');
  }
  return table(`The newest of ${count(all)} dead letters`, [['Reason'], ['When', 'number']], newest.map(letter => row(
    [main(letter.reason || 'no reason given'), detail(`${letter.id} from ${letter.origin || 'an unknown topic'}`)],
    cell('number', clock(letter.at)))));
}

/** Shows the recent failures. */
export function failures(list, since) {
  say(byId('failures-hint'), since ? `Since ${clock(since)}, at most the last 15 minutes.` : '');
  show('failures', list, () =>
    list.length === 0
      ? empty('Nothing has failed.')
      : table(
          'Calls that failed, equal failures counted together',
          [['Call'], ['Times', 'number'], ['Last', 'number']],
          list.map(failed =>
            row(
              [
                main(failed.method.replace('billing.v1.', '')),
                make('span', { class: 'code' }, [failed.status, failed.reason].filter(Boolean).join(' · ')),
                detail(failed.detail),
              ],
              cell('number', count(failed.count)),
              cell('number', clock(failed.at))
            )
          )
        )
  );
}

/** Shows the steps of the last timed payments. */
export function payments(list) {
  say(byId('steps-hint'), list.length === 0 ? '' : 'A few payments per second are timed while you watch.');
  byId('legend').hidden = list.length === 0;
  show('steps', list, () => {
    if (list.length === 0) {
      return empty('No payment has been timed yet. Make one above, or wait for callers.');
    }
    const largest = Math.max(...list.map(payment => total(payment.times)));
    return table(
      'Payments, the latest first, with the time of each step',
      [['Payment', 'third'], ['Steps'], ['ms', 'number']],
      list.map(payment => {
        const steps = durations(payment.times)
          .map((step, index) => ({ ...step, number: index + 1 }))
          .filter(step => step.taken);
        return row(
          [
            main(payment.account),
            ' ',
            detail(`${payment.paymentType} · ${payment.outcome}${payment.fromHere ? ' · made here' : ''}`),
          ],
          cell(
            '',
            bar(steps, largest, steps.map(step => `${step.text} ${milliseconds(step.value)} ms`).join(', ')),
            make(
              'span',
              { 'class': 'numbers', 'aria-hidden': 'true' },
              ...steps.map(step => make('span', {}, make('b', {}, `${step.number}`), ` ${milliseconds(step.value)}`))
            )
          ),
          cell('number', milliseconds(total(payment.times)))
        );
      })
    );
  });
}

export function legend() {
  byId('legend').replaceChildren(
    ...legs.map((leg, index) =>
      make('li', {}, make('span', { 'class': `swatch ${leg.name}`, 'aria-hidden': 'true' }), `${index + 1} ${leg.text}`)
    )
  );
}

export const sum = values => values.reduce((all, value) => all + value, 0);
