// Elements and numbers. Text is only ever inserted as text: no code of the page parses it as HTML.

const svgSpace = 'http://www.w3.org/2000/svg';

export const byId = id => document.getElementById(id);

/** Makes an element with attributes and children, which are elements or texts. */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Makes an SVG element, like make(). */
export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(svgSpace, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(key, value);
    }
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

/** Sets a text if it differs: an unchanged text is not touched, so that a screen reader does not repeat it. */
export function say(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export const count = value => value === null || value === undefined ? '–' : whole.format(value);

/** Milliseconds with three significant digits. */
export function milliseconds(value) {
  if (value === null || value === undefined) {
    return '–';
  }
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

/** An amount as the proxy writes it. */
export function money({ currency_code: currency, units, nanos }) {
  const negative = String(units).startsWith('-') || nanos < 0;
  const cents = String(Math.abs(nanos)).padStart(9, '0').replace(/0{1,7}$/, '');
  return `${negative ? '−' : ''}${String(units).replace('-', '')}.${cents} ${currency}`;
}

export const clock = unixMs => new Date(unixMs).toLocaleTimeString('en-GB');

/** A topic's name without the prefix that all topics share. */
export const shortTopic = topic => topic.replace(/^billing\./, '');
