// The stream of events, read with fetch: an EventSource cannot send a token.

const tokenKey = 'billing-token';
const waits = [1, 2, 4, 8, 15];

export const token = {
  get: () => sessionStorage.getItem(tokenKey),
  set: value => sessionStorage.setItem(tokenKey, value),
  forget: () => sessionStorage.removeItem(tokenKey),
};

/** The headers of a request, with the token if there is one. */
export const headers = (more = {}) => token.get() ? { ...more, Authorization: `Bearer ${token.get()}` } : more;

// An error of the page itself, which is not one of the connection.
class PageError extends Error {}

/** Watches for as long as the page is open: on('hello' | 'snapshot' | 'lost' | 'retry' | 'refused', data).
    An error of a handler ends it. */
export async function watch(on) {
  let failures = 0;
  for (;;) {
    let why;
    try {
      const response = await fetch('live/events', {
        headers: headers({ Accept: 'text/event-stream' }),
        cache: 'no-store',
      });
      if (response.status === 401 || response.status === 403) {
        failures = 0;
        await on('refused', response.status);
        continue;
      }
      if (!response.ok) {
        why = await response.json().then(
          problem => problem.detail,
          () => `The answer is ${response.status} ${response.statusText}.`
        );
      } else {
        failures = 0;
        await read(response.body, on);
        why = 'The proxy ended the stream.';
      }
    } catch (e) {
      if (e instanceof PageError) {
        throw e.cause;
      }
      why = 'The proxy does not respond.';
    }
    await retry(on, why, waits[Math.min(failures++, waits.length - 1)]);
  }
}

async function read(body, on) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await readInTime(reader);
    if (done) {
      return;
    }
    const events = (rest + value).split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? [];
      if (name) {
        handle(on, name, data);
      }
    }
  }
}

function handle(on, name, data) {
  try {
    on(name, JSON.parse(data));
  } catch (e) {
    throw new PageError(e.message, { cause: e });
  }
}

// Events come every second: a connection that is silent for ten seconds counts as lost.
async function readInTime(reader) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('silent')), 10_000);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (e) {
    reader.cancel().catch(() => {});
    throw e;
  } finally {
    clearTimeout(timer);
  }
}

async function retry(on, why, seconds) {
  on('lost', why);
  for (let left = seconds; left > 0; left--) {
    on('retry', left);
    await new Promise(resolve => setTimeout(resolve, 1000));
  }
}
