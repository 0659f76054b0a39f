#!/usr/bin/env python3
"""A balance backend for one payment type, in the consumer group of the platform's own balance backends.

It builds its accounts from billing.events, from the first event on, and needs no event store."""

import argparse
import signal
import sys
import time

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

import wire
from accounts import NANOS_PER_UNIT, Accounts
from billing.wire.v1 import wire_pb2

DRAIN_MAX = 1000
REPLY_BATCH_BYTES_MAX = 500_000
QUERY_SECONDS = 10
COMMIT_SECONDS = 0.5
PARTITIONS_SECONDS = 30
MIN_VERSION_WAIT_US = 500_000


def now_us():
    return time.time_ns() // 1000


def log(text):
    print(text, flush=True)


class Events:
    """Follows billing.events, all partitions from their beginning."""

    def __init__(self, config, accounts):
        self._consumer = Consumer(config | {
            "group.id": "billing-follower", "enable.auto.commit": False, "auto.offset.reset": "error"})
        self._accounts = accounts
        self._next = {}
        self._partitions_checked = 0

    def catch_up(self):
        """Reads up to the current end of the topic."""
        ends = self.add_new_partitions()
        while any(self._next[p] < end for p, end in ends.items()):
            self.poll(0.2)

    def add_new_partitions(self):
        """Adds new partitions; at the first call, all partitions."""
        self._partitions_checked = time.monotonic()
        found = self._consumer.list_topics(wire.EVENTS, QUERY_SECONDS).topics[wire.EVENTS]
        if found.error:
            raise KafkaException(found.error)
        ends = {}
        for number in found.partitions.keys() - self._next.keys():
            first, ends[number] = self._consumer.get_watermark_offsets(
                TopicPartition(wire.EVENTS, number), QUERY_SECONDS)
            if first > 0:
                sys.exit(f"{wire.EVENTS}[{number}] begins at offset {first}: its retention has deleted events, and "
                         "accounts cannot be built without them. Set its retention.ms and retention.bytes to -1.")
            self._next[number] = 0
        if ends:
            self._consumer.assign([TopicPartition(wire.EVENTS, number, at) for number, at in self._next.items()])
        return ends

    def poll(self, timeout):
        for message in self._consumer.consume(DRAIN_MAX, timeout):
            if message.error():
                self._handle(message.error())
                continue
            self._next[message.partition()] = message.offset() + 1
            event = wire.read_event(message)
            if event is not None:
                self._accounts.apply(event)
        if time.monotonic() - self._partitions_checked > PARTITIONS_SECONDS:
            self.add_new_partitions()

    def close(self):
        self._consumer.close()

    @staticmethod
    def _handle(error):
        if error.fatal() or error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            # Continuing from another offset would skip events unnoticed; a restart checks which events are still there.
            sys.exit(f"{wire.EVENTS} cannot be followed: {error}")
        log(f"events: {error}")


class Watermark:
    """The offsets of one partition in flight. Only offsets below the first unsettled one may be committed."""

    def __init__(self):
        self._open = {}
        self._next = None
        self._committed = None

    def track(self, offset):
        self._open[offset] = True
        self._next = offset + 1

    def settle(self, offset):
        self._open.pop(offset, None)

    def advance(self):
        """The offset to commit; None if it is committed already."""
        at = min(self._open, default=self._next)
        if at == self._committed:
            return None
        self._committed = at
        return at


def opening_limits(texts):
    """The billionths that an account may owe before a limit is set, by its currency."""
    return {currency: int(units) * NANOS_PER_UNIT for currency, units in (text.split("=") for text in texts)}


class BalanceBackend:
    """Consumes commands, answers them, and commits the offsets of the answered ones."""

    def __init__(self, arguments, config):
        self._type = arguments.type
        self._topic = f"billing.balances.{arguments.type}"
        self._accounts = Accounts(arguments.type, opening_limits(arguments.opening_limit))
        self._events = Events(config, self._accounts)
        self._producer = Producer(config | {
            "enable.idempotence": True, "acks": "all", "linger.ms": 1, "partitioner": "murmur2_random",
        })
        self._commands = Consumer(config | {
            "group.id": arguments.group,
            "partition.assignment.strategy": "cooperative-sticky",
            "session.timeout.ms": arguments.session_timeout_ms,
            "heartbeat.interval.ms": arguments.session_timeout_ms // 6,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        })
        self._watermarks = {}
        self._ready = []
        self._waiting = []
        self._answered = 0
        self._logged = 0
        self._committed = 0
        self.is_stopping = False

    def run(self):
        # A member of the group receives requests, so it may join only when it has built the accounts.
        self._events.catch_up()
        log(f"built: {len(self._accounts)} accounts")
        self._commands.subscribe([self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)
        while not self.is_stopping:
            self._events.poll(0)
            for message in self._commands.consume(DRAIN_MAX, 0.01):
                self._take(message)
            self._answer_waiting()
            self._publish()
            self._producer.poll(0)
            self._commit()
        self._leave()

    def _take(self, message):
        if message.error():
            if message.error().fatal():
                sys.exit(f"commands cannot be consumed: {message.error()}")
            log(f"commands: {message.error()}")
            return
        place = (message.partition(), message.offset())
        if place[0] not in self._watermarks:
            # The partition was revoked while its records were read: its next owner processes them.
            return
        self._watermarks[place[0]].track(place[1])
        try:
            command = wire.read_command(message, self._topic, self._type)
        except wire.Refused as e:
            self._reject(message, place, e)
            return
        wait_until = now_us() + MIN_VERSION_WAIT_US
        if command.deadline_unix_us:
            # At most half of the remaining time, so that there is time for the answer.
            wait_until = min(wait_until, (now_us() + command.deadline_unix_us) // 2)
        if not self._try_answer(place, command):
            self._waiting.append((place, command, wait_until))

    def _try_answer(self, place, command):
        kind = command.WhichOneof("request")
        request = getattr(command, kind)
        if command.deadline_unix_us and command.deadline_unix_us <= now_us():
            self._ready.append((place, command, wire.expired(command)))
            return True
        account = self._accounts.get(request.account_id)
        if account.is_unknown or account.has_gap or (kind == "balance" and account.version < request.min_version):
            return False
        if kind == "balance_at" and account.version < request.version:
            return False
        if kind == "lookup" and not account.transaction(request.transaction_id):
            return False
        reply = wire_pb2.Reply(correlation_id=command.correlation_id)
        if kind == "balance":
            reply.balance.CopyFrom(account.balance(now_us()))
        elif kind == "balance_at":
            reply.balance_at.CopyFrom(account.balance_at(request))
        elif kind == "lookup":
            reply.lookup.CopyFrom(account.transaction(request.transaction_id))
        else:
            reply.statement.CopyFrom(account.page(request))
        self._ready.append((place, command, reply))
        return True

    def _answer_waiting(self):
        waiting, self._waiting = self._waiting, []
        for place, command, wait_until in waiting:
            if self._try_answer(place, command):
                continue
            if now_us() < wait_until:
                self._waiting.append((place, command, wait_until))
            else:
                self._ready.append((place, command, wire.unreadable(command)))

    def _publish(self):
        """Publishes one record per proxy, or several if it would be too large."""
        batches = {}
        for place, command, reply in self._ready:
            places, replies = batches.get(command.proxy_topic, ([], []))
            if replies and sum(r.ByteSize() for r in replies) + reply.ByteSize() > REPLY_BATCH_BYTES_MAX:
                self._send(command.proxy_topic, places, replies)
                places, replies = [], []
            places.append(place)
            replies.append(reply)
            batches[command.proxy_topic] = (places, replies)
        for topic, (places, replies) in batches.items():
            self._send(topic, places, replies)
        self._ready = []

    def _send(self, topic, places, replies):
        def sent(error, _):
            # A missing reply topic belonged to a proxy that has ended: no caller waits. After any other error the
            # commands are delivered again to the next consumer.
            if error and error.code() not in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
                sys.exit(f"replies could not be published to {topic}: {error}")
            self._settle(places)
            self._answered += len(replies)

        self._producer.produce(
            topic, wire_pb2.ReplyBatch(replies=replies).SerializeToString(),
            headers=[(wire.VERSION_HEADER, wire.VERSION)], on_delivery=sent)

    def _reject(self, message, place, refusal):
        def sent(error, _):
            if error:
                sys.exit(f"a dead letter could not be published: {error}")
            self._settle([place])

        log(f"dead letter: {message.topic()}[{place[0]}]@{place[1]}: {refusal}")
        self._producer.produce(
            wire.DEAD_LETTERS, message.value(), message.key(),
            headers=wire.dead_letter_headers(message, str(refusal)), on_delivery=sent)
        if refusal.command is not None:
            self._producer.produce(
                refusal.command.proxy_topic,
                wire_pb2.ReplyBatch(replies=[wire.refused(refusal.command, str(refusal))]).SerializeToString(),
                headers=[(wire.VERSION_HEADER, wire.VERSION)])

    def _settle(self, places):
        for partition, offset in places:
            # The partition may have been revoked in the meantime.
            if partition in self._watermarks:
                self._watermarks[partition].settle(offset)

    def _commit(self, wait=False):
        if not wait and time.monotonic() - self._committed < COMMIT_SECONDS:
            return
        self._committed = time.monotonic()
        offsets = [
            TopicPartition(self._topic, p, at)
            for p, w in self._watermarks.items() if (at := w.advance()) is not None]
        if offsets:
            try:
                self._commands.commit(offsets=offsets, asynchronous=not wait)
            except KafkaException as e:
                # The commands are delivered again and answered twice; their callers already have the first answer.
                log(f"commit: {e.args[0]}")
        if self._answered > self._logged:
            self._logged = self._answered
            log(f"answered {self._logged}")

    def _assigned(self, _, partitions):
        for partition in partitions:
            self._watermarks[partition.partition] = Watermark()
        log("assigned " + (", ".join(str(p.partition) for p in partitions) or "nothing"))

    def _revoked(self, _, partitions):
        self._publish()
        self._producer.flush(2)
        self._commit(wait=True)
        self._lost(_, partitions)

    def _lost(self, _, partitions):
        gone = {p.partition for p in partitions}
        self._waiting = [w for w in self._waiting if w[0][0] not in gone]
        self._watermarks = {p: w for p, w in self._watermarks.items() if p not in gone}
        log("lost " + ", ".join(map(str, sorted(gone))))

    def _leave(self):
        self._publish()
        self._producer.flush(5)
        self._commit(wait=True)
        self._commands.close()
        self._events.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brokers", required=True, help="host:port,...")
    parser.add_argument("--type", default="amex", choices=["visa", "mastercard", "discover", "amex"])
    parser.add_argument("--group", default="billing-balances")
    parser.add_argument("--opening-limit", nargs="*", metavar="CURRENCY=UNITS", default=["USD=10000", "EUR=10000"],
                        help="the platform's Billing:Backend:OpeningLimits; by default those of ./billing's stacks")
    parser.add_argument("--session-timeout-ms", type=int, default=6_000)
    arguments = parser.parse_args()
    backend = BalanceBackend(arguments, {
        "bootstrap.servers": arguments.brokers,
        "client.id": "billing-python-balances",
        "socket.nagle.disable": True,
    })

    def stop(*_):
        backend.is_stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    backend.run()


if __name__ == "__main__":
    main()
