// The page's own requests to the proxy.

import { headers } from './feed.js';

/** Sends a request. If no answer arrives, the result is empty. */
export async function ask(method, path, body) {
  try {
    const response = await fetch(path, {
      method,
      body: body && JSON.stringify(body),
      headers: headers(body ? { 'Content-Type': 'application/json' } : {}),
    });
    return { response, answer: await response.json() };
  } catch {
    return {};
  }
}

// The ids of requests without an answer.
const unanswered = new Map();

/** Sends a request with an id. If it is sent again after no answer, it is the same one, with the same id:
    nothing is done twice. */
export async function put(path, body) {
  const text = path + JSON.stringify(body);
  const id = unanswered.get(text) ?? newId();
  unanswered.set(text, id);
  const result = await ask('PUT', `${path}/${id}`, body);
  if (result.response?.status < 500) {
    unanswered.delete(text);
  }
  return { id, ...result };
}

// crypto.randomUUID exists only over TLS or on localhost.
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = bytes[6] & 0x0f | 0x40;
  bytes[8] = bytes[8] & 0x3f | 0x80;
  const hex = [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
