// The steps of a payment: their names and durations.

export const legs = [
  { name: 'produce', from: 'received', to: 'appended', text: 'To Kafka' },
  { name: 'wait', from: 'appended', to: 'consumed', text: 'In the topic' },
  { name: 'decide', from: 'consumed', to: 'decided', text: 'Authorise and decide' },
  { name: 'store', from: 'decided', to: 'stored', text: 'Store' },
  { name: 'reply', from: 'stored', to: 'replied', text: 'Publish the reply' },
  { name: 'return', from: 'replied', to: 'answered', text: 'Back to the proxy' },
];

/** The durations of the legs, in milliseconds. Brokers stamp whole milliseconds, so a step may seem to
    precede the previous one. The time of a leg that was not taken (a repeated payment is not stored again) is
    part of the next leg. */
export function durations(times) {
  let at = times.received;
  return legs.map(leg => {
    const end = times[leg.to] ?? at;
    const value = Math.max(0, end - at) / 1000;
    at = Math.max(at, end);
    return { ...leg, value, taken: times[leg.to] !== undefined };
  });
}

export const total = times => Math.max(0, times.answered - times.received) / 1000;

// The default partitioner of Kafka's Java clients (murmur2), which maps an account to its partition.
export function partitionOf(key, partitions) {
  const bytes = new TextEncoder().encode(key);
  let hash = 0x9747b28c ^ bytes.length;
  const ends = bytes.length & ~3;
  for (let i = 0; i < ends; i += 4) {
    let word = bytes[i] | bytes[i + 1] << 8 | bytes[i + 2] << 16 | bytes[i + 3] << 24;
    word = Math.imul(word, 0x5bd1e995);
    word = Math.imul(word ^ word >>> 24, 0x5bd1e995);
    hash = Math.imul(hash, 0x5bd1e995) ^ word;
  }
  for (let i = bytes.length - 1; i >= ends; i--) {
    hash ^= bytes[i] << 8 * (i - ends);
  }
  if (bytes.length > ends) {
    hash = Math.imul(hash, 0x5bd1e995);
  }
  hash = Math.imul(hash ^ hash >>> 13, 0x5bd1e995);
  return ((hash ^ hash >>> 15) & 0x7fffffff) % partitions;
}
