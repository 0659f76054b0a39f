// Drives a browser for the tests: reads one command per line, { do, ... }, and answers each with a line:
// { value } or { error }.

import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const patience = 120_000;
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const browser = await chromium.launch({ executablePath: process.argv[2], chromiumSandbox: process.getuid() !== 0 });
const pages = new Map();

const commands = {
  /** Opens a page, and records its errors, its warnings and its requests to other origins. */
  async open({ page: name, url, scheme = 'light', width = 1280, height = 900, motion = 'reduce', refuseWithout }) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: scheme,
      reducedMotion: motion,
    });
    const page = await context.newPage();
    const problems = [];
    const received = { chunks: 0 };
    const network = await context.newCDPSession(page);
    await network.send('Network.enable');
    network.on('Network.dataReceived', () => received.chunks++);
    page.on(
      'console',
      message => ['error', 'warning'].includes(message.type()) && problems.push(`console: ${message.text()}`)
    );
    page.on('pageerror', error => problems.push(`error: ${error.message}`));
    page.on(
      'request',
      request => new URL(request.url()).origin === new URL(url).origin || problems.push(`foreign: ${request.url()}`)
    );
    if (refuseWithout) {
      await page.route('**/live/events', route => route.request().headers().authorization === `Bearer ${refuseWithout}`
        ? route.continue() : route.fulfill({ status: 401, contentType: 'application/problem+json', body: '{}' }));
    }
    page.setDefaultTimeout(patience);
    await page.goto(url);
    pages.set(name, { page, problems, received });
  },

  async close({ page }) {
    await on(page).context().close();
    pages.delete(page);
  },

  /** Returns the problems of a page since it was opened. */
  problems: ({ page }) => pages.get(page).problems,

  /** Waits until the page has received as many more chunks of data, such as events. */
  async received({ page, more }) {
    const { received } = pages.get(page);
    const enough = received.chunks + more;
    while (received.chunks < enough) {
      await on(page).waitForTimeout(50);
    }
  },

  /** Starts to count the changes of what is shown. */
  observe: ({ page }) =>
    on(page).evaluate(() => {
      window.changes = 0;
      new MutationObserver(changes => {
        window.changes += changes.length;
      }).observe(document.getElementById('main'), {
        subtree: true,
        childList: true,
        characterData: true,
        attributes: true,
      });
    }),

  changes: ({ page }) => on(page).evaluate(() => window.changes),

  /** Removes an element, which the page does not expect. */
  remove: ({ page, selector }) => on(page).evaluate(where => document.querySelector(where).remove(), selector),

  /** Waits until an element's text matches, and returns it. */
  async until({ page, selector, matches }) {
    const text = () => on(page).evaluate(where => document.querySelector(where)?.innerText, selector);
    try {
      await on(page).waitForFunction(([where, pattern]) => {
        const found = document.querySelector(where)?.innerText;
        return found !== undefined && new RegExp(pattern).test(found);
      }, [selector, matches]);
    } catch (e) {
      throw new Error(`${selector} does not match ${matches}: it is '${await text()}'`, { cause: e });
    }
    return on(page).innerText(selector);
  },

  /** Waits until the number in an element is at least a value, and returns it. */
  async untilAtLeast({ page, selector, value }) {
    await on(page).waitForFunction(([where, least]) =>
      Number(document.querySelector(where).innerText.replaceAll(',', '')) >= least, [selector, value]);
    return Number((await on(page).innerText(selector)).replaceAll(',', ''));
  },

  /** Waits until a number of elements match. */
  async untilCount({ page, selector, value }) {
    await on(page).waitForFunction(
      ([where, many]) => document.querySelectorAll(where).length === many,
      [selector, value]
    );
  },

  count: ({ page, selector }) => on(page).locator(selector).count(),

  attribute: ({ page, selector, name }) => on(page).getAttribute(selector, name),

  offline: ({ page, is }) => on(page).context().setOffline(is),

  /** Presses Tab until an element has the focus, as a user without a mouse does, and returns whether the
      focus is visible. */
  async tabTo({ page, selector }) {
    for (let presses = 0; presses < 40; presses++) {
      if (await on(page).evaluate(where => document.activeElement?.matches(where), selector)) {
        return on(page).evaluate(() => parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2);
      }
      await on(page).keyboard.press('Tab');
    }
    throw new Error(`${selector} is not reached by Tab`);
  },

  /** Replaces the text of the focused element. */
  async type({ page, text }) {
    await on(page).keyboard.press('Control+A');
    await on(page).keyboard.type(text);
  },

  press: ({ page, key }) => on(page).keyboard.press(key),

  /** Starts to record the order in which a payment passes the steps. */
  follow: ({ page }) => on(page).evaluate(() => {
    window.passed = [];
    new MutationObserver(changes => changes.forEach(({ target }) =>
      target.dataset.state === 'passed' && window.passed.at(-1) !== target.id && window.passed.push(target.id)))
      .observe(document.getElementById('way'), { subtree: true, attributeFilter: ['data-state'] });
  }),

  passed: ({ page }) => on(page).evaluate(() => window.passed),

  /** Returns by how many pixels the page is wider than its window. */
  overflow: ({ page }) => on(page).evaluate(() => document.documentElement.scrollWidth - innerWidth),

  /** Returns whether input of callers was interpreted as HTML or script. */
  injected: ({ page }) =>
    on(page).evaluate(
      () =>
        window.hacked !== undefined ||
        document.querySelector('main img, main script, main iframe, main [onerror]') !== null
    ),

  background: ({ page }) => on(page).evaluate(() => getComputedStyle(document.body).backgroundColor),

  /** Returns the violations that axe finds, and the number of texts with sufficient contrast. */
  async axe({ page }) {
    await on(page).evaluate(axe);
    const { violations, passes } = await on(page).evaluate(() =>
      window.axe.run(document, { resultTypes: ['violations', 'passes'] })
    );
    return {
      violations: violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' ').slice(0, 300)}`),
      contrasts: passes.find(({ id }) => id === 'color-contrast')?.nodes.length ?? 0,
    };
  },

  /** Returns the roles and names that a screen reader receives. */
  outline: ({ page }) => on(page).locator('body').ariaSnapshot(),

  /** Takes a screenshot once the charts have enough data. */
  async picture({ page, path, height }) {
    await on(page).waitForFunction(
      () => {
        const lines = [...document.querySelectorAll('#rate-chart polyline.main')];
        return lines.flatMap(line => [...line.points]).filter(point => point.y < 50).length >= 45;
      },
      null,
      { timeout: 2 * patience }
    );
    await on(page).screenshot({
      path,
      clip: { x: 0, y: 0, width: on(page).viewportSize().width, height },
      fullPage: true,
    });
  },
};

const on = name => pages.get(name).page;

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...parameters } = JSON.parse(line);
  let answer;
  try {
    answer = { value: await commands[name](parameters) ?? null };
  } catch (e) {
    answer = { error: e.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
