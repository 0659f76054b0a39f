// A client of the billing platform: calls go to the proxies in turn, and one that a proxy does not take goes to the next with
// the same transaction id, so nothing is charged twice.

import { setTimeout as delay } from 'node:timers/promises';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const RETRIES_MAX = 8;
const DELAY_FIRST_MS = 50;
const DELAY_MAX_MS = 2000;

// What was not taken, or whose connection broke on the way. A payment that was recorded all the same is answered from its
// receipt when it is sent again.
const TRANSIENT = new Set([grpc.status.UNAVAILABLE, grpc.status.RESOURCE_EXHAUSTED]);
const STREAM_TRANSIENT = new Set(
  [...TRANSIENT, grpc.status.INTERNAL, grpc.status.UNKNOWN, grpc.status.CANCELLED, grpc.status.ABORTED]);

export class BillingClient {
  #proxies;
  #next = 0;
  #deadlineMs;

  /**
   * @param {string[]} addresses of proxies, host:port
   * @param {string} protos the folder that holds billing/v1/billing.proto
   * @param {number} deadlineMs how long a call may take, with all its tries
   */
  constructor(addresses, protos, deadlineMs = 30_000) {
    const definition = protoLoader.loadSync('billing/v1/billing.proto', {
      includeDirs: [protos], keepCase: true, longs: String, enums: String, defaults: true, oneofs: true,
    });
    const { Billing } = grpc.loadPackageDefinition(definition).billing.v1;
    this.#proxies = addresses.map((address) => new Billing(address, grpc.credentials.createInsecure()));
    this.#deadlineMs = deadlineMs;
  }

  /** Charges an account. Keep the payment's transaction_id: asking again with it is always safe. */
  makePayment(payment) {
    return this.#call('MakePayment', payment);
  }

  /** Reads what an account owes; with min_version, at least as of that version. */
  checkBalance(request) {
    return this.#call('CheckBalance', request);
  }

  /**
   * Makes many payments over one stream, and yields the answers as they come. When the stream breaks, those without an answer
   * go to the next proxy.
   * @param {object[]} payments each with a transaction_id of its own
   */
  async* makePayments(payments) {
    const open = new Map(payments.map((payment) => [payment.transaction_id, payment]));
    const deadline = Date.now() + this.#deadlineMs;
    for (let tries = 0; open.size > 0; tries++) {
      let failure;
      try {
        for await (const answer of this.#stream([...open.values()], deadline)) {
          if (answer.outcome === 'FAILED' && TRANSIENT.has(answer.error.status_code)) {
            failure = answer.error;
          } else if (open.delete(answer.transaction_id)) {
            yield answer;
          }
        }
      } catch (e) {
        if (!STREAM_TRANSIENT.has(e.code)) {
          throw e;
        }
        failure = e;
      }
      if (open.size > 0) {
        await rest(failure ?? new Error('The stream ended early.'), tries, deadline);
      }
    }
  }

  close() {
    this.#proxies.forEach((proxy) => proxy.close());
  }

  async #call(method, request) {
    const deadline = Date.now() + this.#deadlineMs;
    for (let tries = 0; ; tries++) {
      try {
        return await this.#try(method, request, deadline);
      } catch (e) {
        if (!TRANSIENT.has(e.code)) {
          throw e;
        }
        await rest(e, tries, deadline);
      }
    }
  }

  #try(method, request, deadline) {
    return new Promise((resolve, reject) => {
      this.#turn()[method](request, { deadline }, (e, answer) => (e ? reject(e) : resolve(answer)));
    });
  }

  async* #stream(payments, deadline) {
    const call = this.#turn().MakePayments({ deadline });
    const sent = send(call, payments);
    // The error that ends the call is the reader's to see.
    sent.catch(() => {});
    yield* call;
    await sent;
  }

  #turn() {
    return this.#proxies[this.#next++ % this.#proxies.length];
  }
}

// The proxy reads as slowly as its answers are read: what it does not take yet waits here.
async function send(call, payments) {
  const closed = new Promise((resolve) => { call.once('close', resolve); call.once('error', resolve); });
  for (const payment of payments) {
    if (!call.write(payment)) {
      await Promise.race([new Promise((resolve) => { call.once('drain', resolve); }), closed]);
    }
    if (call.destroyed) {
      return;
    }
  }
  call.end();
}

async function rest(failure, tries, deadline) {
  const asked = Number(failure.metadata?.get('grpc-retry-pushback-ms')[0] ?? NaN);
  const grown = Math.min(DELAY_MAX_MS, DELAY_FIRST_MS * 2 ** tries) * (0.5 + Math.random() / 2);
  const wait = asked >= 0 ? asked : grown;
  if (tries >= RETRIES_MAX || Date.now() + wait >= deadline) {
    throw failure;
  }
  await delay(wait);
}
