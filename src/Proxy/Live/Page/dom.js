// Elements and numbers. Text only ever gets into the page as text: nothing here, or anywhere, parses it as HTML.

const svgSpace = 'http://www.w3.org/2000/svg';

export const byId = id => document.getElementById(id);

/** Makes an element: attributes, then children, which are elements or texts. */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for a drawing. */
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

/** Sets a text where it differs: what has not changed is not touched, and not read out again. */
export function say(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export const count = value => value === null || value === undefined ? '–' : whole.format(value);

/** Milliseconds with three digits that mean something. */
export function milliseconds(value) {
  if (value === null || value === undefined) {
    return '–';
  }
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

export const clock = unixMs => new Date(unixMs).toLocaleTimeString('en-GB');

/** The last part of a topic's name, which is what differs. */
export const shortTopic = topic => topic.replace(/^billing\./, '');
