"""Reads and validates the records of a request topic, and makes the answers that need no account."""

import string
import uuid

from google.protobuf.message import DecodeError

from billing.v1 import billing_pb2
from billing.wire.v1 import wire_pb2

VERSION_HEADER = "billing-wire"
VERSION = b"1"
REPLY_PREFIX = "billing.replies."
DEAD_LETTERS = "billing.dead-letters"
EVENTS = "billing.events"
STATEMENT_PAGE_MAX = 1000

ID_CHARACTERS = frozenset(string.ascii_letters + string.digits + "._-")

# gRPC's status codes.
DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE = 4, 13, 14


class Refused(Exception):
    """The record is sent to the dead letters; the sender is answered if the command names a valid reply topic."""

    def __init__(self, reason, command=None):
        super().__init__(reason)
        self.command = command


def is_wire(message):
    values = [value for name, value in message.headers() or [] if name == VERSION_HEADER]
    return bool(values) and values[-1] == VERSION


def read_command(message, topic, payment_type):
    """The command of a record.

    Raises Refused if the record breaks a rule of docs/wire-protocol.md."""
    if not is_wire(message):
        raise Refused(f"the header {VERSION_HEADER} is not {VERSION.decode()}")
    try:
        command = wire_pb2.Command.FromString(message.value() or b"")
    except DecodeError as e:
        raise Refused(f"the value is not a Command: {e}") from e
    if not is_reply_topic(command.proxy_topic):
        raise Refused(f"proxy_topic does not name a reply topic ({REPLY_PREFIX}...)")
    if problem := problem_of(command, message.key(), topic, payment_type):
        raise Refused(problem, command)
    return command


def is_reply_topic(topic):
    name = topic[len(REPLY_PREFIX):]
    return topic.startswith(REPLY_PREFIX) and 0 < len(name) and len(topic) <= 249 and ID_CHARACTERS.issuperset(name)


def problem_of(command, key, topic, payment_type):
    kind = command.WhichOneof("request")
    if not is_uuid(command.transaction_id):
        return "transaction_id is not a UUID"
    if kind not in ("balance", "balance_at", "statement", "lookup"):
        return "the command holds no request" if kind is None else f"a {kind} does not belong on {topic}"
    request = getattr(command, kind)
    if not 0 < len(request.account_id) <= 64 or not ID_CHARACTERS.issuperset(request.account_id):
        return "account_id must be 1 to 64 characters out of A-Z a-z 0-9 . _ -"
    if request.payment_type != billing_pb2.PaymentType.Value("PAYMENT_TYPE_" + payment_type.upper()):
        return f"the command does not belong on {topic}"
    if key != request.account_id.encode():
        return "the record's key is not the account_id"
    if kind == "balance":
        return "min_version must not be negative" if request.min_version < 0 else None
    if kind == "balance_at":
        if request.WhichOneof("at") is None:
            return "version or time is missing"
        if not is_time(request.time):
            return "time is not a time"
        return "version must not be negative" if request.version < 0 else None
    if kind == "lookup":
        return None if is_uuid(request.transaction_id) else "transaction_id is not a UUID"
    if request.after_version < 0:
        return "after_version must not be negative"
    if not 1 <= request.limit <= STATEMENT_PAGE_MAX:
        return f"limit must be between 1 and {STATEMENT_PAGE_MAX}"
    stated = request.opening
    if request.HasField("opening") and not (
            stated.version == request.after_version and stated.HasField("balance") and stated.HasField("credit_limit")):
        return "opening must be the account as of after_version"
    if not is_time(request.start_time) or not is_time(request.end_time):
        return "start_time and end_time must be times"
    if request.HasField("start_time") and request.HasField("end_time") and (
            request.end_time.ToNanoseconds() <= request.start_time.ToNanoseconds()):
        return "end_time must be later than start_time"
    types = set(request.types)
    if not types <= set(billing_pb2.StatementEntryType.values()[1:]) or len(types) < len(request.types):
        return "types must be types of entries, each once"
    return None


def is_time(timestamp):
    """Whether it is a time of the years 1 to 9999, as one that is absent is."""
    return -62_135_596_800 <= timestamp.seconds < 253_402_300_800 and 0 <= timestamp.nanos < 1_000_000_000


def is_uuid(text):
    try:
        uuid.UUID(text)
        return True
    except ValueError:
        return False


def read_event(message):
    """The event of a record; None for an invalid record, which is ignored."""
    if not is_wire(message):
        return None
    try:
        event = wire_pb2.Event.FromString(message.value() or b"")
    except DecodeError:
        return None
    return event if event.stream_id and event.version > 0 else None


def error(command, status, reason, text):
    return wire_pb2.Reply(
        correlation_id=command.correlation_id,
        error=wire_pb2.Error(status_code=status, reason=reason, message=text),
    )


def expired(command):
    return error(command, DEADLINE_EXCEEDED, "COMMAND_EXPIRED", "The deadline passed before the account was read.")


def unreadable(command):
    """A retry is safe, and another backend may have the account."""
    return error(command, UNAVAILABLE, "EVENT_STORE_UNAVAILABLE", "The account cannot be read at the moment.")


def refused(command, reason):
    return error(command, INTERNAL, "PROCESSING_FAILED", f"The command was refused: {reason}")


def dead_letter_headers(message, reason):
    kept = [h for h in message.headers() or [] if not h[0].startswith("billing-dead-")]
    return kept + [
        ("billing-dead-reason", reason.encode()),
        ("billing-dead-topic", message.topic().encode()),
        ("billing-dead-partition", str(message.partition()).encode()),
        ("billing-dead-offset", str(message.offset()).encode()),
    ]
