// What the page says about a request that was made on it.

import { byId, say } from './dom.js';

export function tell(state, text) {
  byId('outcome').dataset.state = state;
  say(byId('outcome'), text);
}

/** Tells what is wrong with a field, which gets the focus. */
export function blame(id, text) {
  tell('failed', text);
  byId(id).setAttribute('aria-invalid', 'true');
  byId(id).setAttribute('aria-describedby', 'outcome');
  byId(id).focus();
}

export function clear() {
  for (const input of byId('pay').querySelectorAll('[aria-invalid]')) {
    input.removeAttribute('aria-invalid');
    input.removeAttribute('aria-describedby');
  }
}

/** Tells why a request was refused. The elements of its fields are given by their names. */
export function refused(status, problem, fields) {
  if (fields[problem.field]) {
    blame(fields[problem.field], problem.detail);
  } else {
    tell(
      'failed',
      status === 401 || status === 403
        ? 'You have no permission to do this here.'
        : `${problem.reason ?? status}: ${problem.detail}`
    );
  }
}

/** An amount as it is sent; null if the text of the element is none, which is told. */
export function amountIn(id, currency) {
  const amount = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(byId(id).value.trim());
  if (!amount) {
    blame(id, 'The amount must be a number such as 12.34.');
    return null;
  }
  return { currency_code: currency, units: amount[1], nanos: Number((amount[2] ?? '').padEnd(9, '0')) };
}

/** Does one thing at a time: until it is done, the buttons do nothing, and keep the focus. */
export async function busy(work) {
  const buttons = [...byId('pay').querySelectorAll('button')];
  if (buttons[0].ariaDisabled === 'true') {
    return;
  }
  for (const button of buttons) {
    button.ariaDisabled = 'true';
  }
  try {
    await work();
  } finally {
    for (const button of buttons) {
      button.ariaDisabled = null;
    }
  }
}
