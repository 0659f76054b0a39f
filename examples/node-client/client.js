// A client of the billing platform. Calls are distributed over the proxies in turn. A call that a proxy does not accept
// is retried at the next proxy with the same transaction id, so that nothing is charged twice.

import { setTimeout as delay } from 'node:timers/promises';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const RETRIES_MAX = 8;
const DELAY_FIRST_MS = 50;
const DELAY_MAX_MS = 2000;

// Statuses of calls that were not accepted or whose connection broke. If the payment was recorded nevertheless,
// the retry is answered from its receipt.
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
   * @param {number} deadlineMs the longest duration of a call, including all retries
   */
  constructor(addresses, protos, deadlineMs = 30_000) {
    const definition = protoLoader.loadSync('billing/v1/billing.proto', {
      includeDirs: [protos], keepCase: true, longs: String, enums: String, defaults: true, oneofs: true,
    });
    const { BillingService } = grpc.loadPackageDefinition(definition).billing.v1;
    this.#proxies = addresses.map((address) => new BillingService(address, grpc.credentials.createInsecure()));
    this.#deadlineMs = deadlineMs;
  }

  /** Charges an account. Keep the payment's transaction_id: a retry with it is always safe. */
  makePayment(payment) {
    return this.#call('MakePayment', payment);
  }

  /** Reads the balance of an account; with min_version, of that version or a later one. */
  checkBalance(request) {
    return this.#call('CheckBalance', request);
  }

  /**
   * Makes many payments over one stream, and yields the answers as they arrive. If the stream breaks, the payments
   * without an answer are sent to the next proxy.
   * @param {object[]} payments each with its own transaction_id
   */
  async* makePayments(payments) {
    const pending = new Map(payments.map((payment) => [payment.transaction_id, payment]));
    const deadline = Date.now() + this.#deadlineMs;
    for (let attempts = 0; pending.size > 0; attempts++) {
      let failure;
      try {
        for await (const answer of this.#stream([...pending.values()], deadline)) {
          if (answer.error && TRANSIENT.has(answer.error.status_code)) {
            failure = answer.error;
          } else if (pending.delete(answer.transaction_id)) {
            yield answer;
          }
        }
      } catch (e) {
        if (!STREAM_TRANSIENT.has(e.code)) {
          throw e;
        }
        failure = e;
      }
      if (pending.size > 0) {
        await backOff(failure ?? new Error('The stream ended early.'), attempts, deadline);
      }
    }
  }

  close() {
    this.#proxies.forEach((proxy) => proxy.close());
  }

  async #call(method, request) {
    const deadline = Date.now() + this.#deadlineMs;
    for (let attempts = 0; ; attempts++) {
      try {
        return await this.#try(method, request, deadline);
      } catch (e) {
        if (!TRANSIENT.has(e.code)) {
          throw e;
        }
        await backOff(e, attempts, deadline);
      }
    }
  }

  #try(method, request, deadline) {
    return new Promise((resolve, reject) => {
      this.#nextProxy()[method](request, { deadline }, (e, answer) => (e ? reject(e) : resolve(answer)));
    });
  }

  async* #stream(payments, deadline) {
    const call = this.#nextProxy().MakePayments({ deadline });
    const sent = send(call, payments);
    // The error that ends the call is thrown to the reader of the answers.
    sent.catch(() => {});
    yield* call;
    await sent;
  }

  #nextProxy() {
    return this.#proxies[this.#next++ % this.#proxies.length];
  }
}

// The proxy reads requests only as fast as its answers are read: payments that it does not read yet wait here.
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

async function backOff(failure, attempts, deadline) {
  const requested = Number(failure.metadata?.get('grpc-retry-pushback-ms')[0] ?? NaN);
  const exponential = Math.min(DELAY_MAX_MS, DELAY_FIRST_MS * 2 ** attempts) * (0.5 + Math.random() / 2);
  const wait = requested >= 0 ? requested : exponential;
  if (attempts >= RETRIES_MAX || Date.now() + wait >= deadline) {
    throw failure;
  }
  await delay(wait);
}
