"""Accounts built from the events of billing.events."""

from billing.v1 import billing_pb2
from billing.wire.v1 import wire_pb2

NANOS_PER_UNIT = 1_000_000_000

PAYMENTS = ("payment_accepted", "payment_declined", "payment_authorised", "authorisation_declined")
RELEASES = ("authorisation_voided", "authorisation_expired")
FOLLOW_UPS = ("payment_refunded", "payment_captured", *RELEASES)


def nanos_of(money):
    """An amount of money as a whole number of billionths: exact, like decimals."""
    return money.units * NANOS_PER_UNIT + money.nanos


def money_of(nanos, currency):
    """The money of a whole number of billionths; units and nanos never have opposite signs."""
    units, rest = divmod(abs(nanos), NANOS_PER_UNIT)
    sign = -1 if nanos < 0 else 1
    return billing_pb2.Money(currency_code=currency, units=sign * units, nanos=sign * rest)


def status_of(event):
    """The status of the account after an event, which does not state it of an open one."""
    return event.account_status or billing_pb2.ACCOUNT_STATUS_OPEN


class Account:
    """One account: its events up to the first gap, and the events received after the gap."""

    def __init__(self, opening_limits):
        self._opening_limits = opening_limits
        self._events = []
        self._limits = []
        self._ahead = {}
        self._incarnation = 0
        self.is_unknown = False

    @property
    def version(self):
        return len(self._events)

    @property
    def has_gap(self):
        return bool(self._ahead)

    def apply(self, event):
        """Applies an event. Events are delivered at least once, and sometimes before an earlier one."""
        if event.incarnation > self._incarnation:
            # The event store was restored to an earlier time, or has moved the account: its versions from here on take
            # the place of former ones.
            self._incarnation = event.incarnation
            del self._events[event.version - 1:], self._limits[event.version - 1:]
            self._ahead = {version: ahead for version, ahead in self._ahead.items() if version < event.version}
        if event.incarnation < self._incarnation or event.version <= self.version:
            return
        self._ahead[event.version] = event
        while self.version + 1 in self._ahead:
            self._append(self._ahead.pop(self.version + 1))

    def _append(self, event):
        fact = event.WhichOneof("fact")
        # A fact of a newer kind may have changed the account in a way that this program does not know.
        self.is_unknown |= fact is None
        changed = nanos_of(event.credit_limit_changed.limit) if fact == "credit_limit_changed" else None
        self._limits.append(self._own_limit_at(self.version) if changed is None else changed)
        self._events.append(event)

    def _own_limit_at(self, version):
        return self._limits[version - 1] if version else None

    def limit_at(self, version):
        """The limit that was set, or else that of the settings for the account's currency; zero without one."""
        own = self._own_limit_at(version)
        currency = self._events[version - 1].balance.currency_code if version else ""
        return self._opening_limits.get(currency, 0) if own is None else own

    def _status_at(self, version):
        return status_of(self._events[version - 1]) if version else billing_pb2.ACCOUNT_STATUS_OPEN

    def state_at(self, version):
        """The account as of a version: the opening or closing state of a page of a statement."""
        balance = self._events[version - 1].balance if version else billing_pb2.Money()
        return wire_pb2.AccountState(
            version=version,
            balance=balance,
            credit_limit=money_of(self.limit_at(version), balance.currency_code),
        )

    def balance(self, read_time):
        """The answer to a balance check."""
        state = self.state_at(self.version)
        on_hold = self._events[-1].on_hold if self._events else billing_pb2.Money()
        available = max(0, nanos_of(state.credit_limit) - nanos_of(state.balance) - nanos_of(on_hold))
        response = billing_pb2.CheckBalanceResponse(
            balance=state.balance,
            available=money_of(available, state.balance.currency_code),
            version=state.version,
            credit_limit=state.credit_limit,
            on_hold=money_of(nanos_of(on_hold), state.balance.currency_code),
            account_status=self._status_at(self.version),
        )
        response.read_time.FromMicroseconds(read_time)
        return response

    def balance_at(self, request):
        """The answer to a question for a balance of the past, of a version that the account has."""
        version = request.version
        if request.WhichOneof("at") == "time":
            at = request.time.ToMicroseconds()
            version = max((event.version for event in self._events if event.decided_unix_us <= at), default=0)
        state = self.state_at(version)
        currency = state.balance.currency_code
        on_hold = nanos_of(self._events[version - 1].on_hold) if version else 0
        past = billing_pb2.GetBalanceAtResponse(
            balance=state.balance,
            available=money_of(max(0, nanos_of(state.credit_limit) - nanos_of(state.balance) - on_hold), currency),
            version=version,
            credit_limit=state.credit_limit,
            on_hold=money_of(on_hold, currency),
            account_status=self._status_at(version),
        )
        if version:
            past.decide_time.FromMicroseconds(self._events[version - 1].decided_unix_us)
        return past

    def transaction(self, transaction_id):
        """What is recorded under this id; None if it is not among the events yet."""
        event = self._event(transaction_id.lower())
        if event is None:
            return None
        found = billing_pb2.GetTransactionResponse(entry=self._entry(event))
        fact = event.WhichOneof("fact")
        payment = event if fact in PAYMENTS else None
        if fact in FOLLOW_UPS:
            payment = self._event(getattr(event, fact).payment_id)
        if payment is not None:
            found.payment.CopyFrom(self._totals(payment))
        return found

    def _event(self, transaction_id):
        return next((event for event in self._events if event.transaction_id == transaction_id), None)

    def _totals(self, payment):
        """What has become of a payment: the last event that follows it up states it."""
        kind = payment.WhichOneof("fact")
        recorded = getattr(payment, kind)
        zero = billing_pb2.Money(currency_code=recorded.amount.currency_code)
        totals = billing_pb2.PaymentTotals(
            payment_id=payment.transaction_id,
            charged=recorded.amount if kind == "payment_accepted" else zero,
            refunded=zero,
            held=recorded.amount if kind == "payment_authorised" else zero,
        )
        if kind == "payment_authorised":
            totals.expire_time.FromMicroseconds(recorded.expire_unix_us)
        for event in self._events:
            fact = event.WhichOneof("fact")
            if fact in FOLLOW_UPS and getattr(event, fact).payment_id == payment.transaction_id:
                followed = getattr(event, fact)
                totals.charged.CopyFrom(followed.charged)
                totals.refunded.CopyFrom(followed.refunded)
                totals.held.CopyFrom(getattr(followed, "held", zero))
        return totals

    def page(self, request):
        """The answer to a request for a page of a statement."""
        first = min(request.after_version, self.version)
        entries = [self._entry(event) for event in self._events[first:]]
        wanted = [entry for entry in entries if self._is_selected(request, entry)]
        has_more = len(wanted) > request.limit
        page = wire_pb2.StatementPage(entries=wanted[:request.limit], has_more=has_more)
        page.read_to = page.entries[-1].version if has_more else self.version
        if not (request.HasField("start_time") or request.HasField("end_time") or request.types):
            page.closing.CopyFrom(self.state_at(page.read_to))
        return page

    @staticmethod
    def _is_selected(request, entry):
        at = entry.decide_time.ToNanoseconds()
        return (
            (not request.HasField("start_time") or at >= request.start_time.ToNanoseconds())
            and (not request.HasField("end_time") or at < request.end_time.ToNanoseconds())
            and (not request.types or entry.type in request.types)
        )

    @staticmethod
    def _entry(event):
        entry = billing_pb2.StatementEntry(
            version=event.version, transaction_id=event.transaction_id, balance=event.balance
        )
        entry.decide_time.FromMicroseconds(event.decided_unix_us)
        fact = event.WhichOneof("fact")
        recorded = getattr(event, fact)
        entry.type = billing_pb2.StatementEntryType.Value("STATEMENT_ENTRY_TYPE_" + fact.upper())
        if fact != "account_status_changed":
            entry.amount.CopyFrom(
                recorded.limit if fact == "credit_limit_changed"
                else recorded.released if fact in RELEASES
                else recorded.amount)
        entry.account_status = status_of(event)
        if event.HasField("notes"):
            entry.notes.CopyFrom(event.notes)
        entry.on_hold.CopyFrom(money_of(nanos_of(event.on_hold), event.balance.currency_code))
        if fact.endswith("declined"):
            entry.decline_reason = recorded.reason
        if fact in FOLLOW_UPS:
            entry.payment_id = recorded.payment_id
        return entry


class Accounts:
    """All accounts of one payment type."""

    def __init__(self, payment_type, opening_limits):
        self._prefix = payment_type + "/"
        self._opening_limits = opening_limits
        self._accounts = {}

    def __len__(self):
        return len(self._accounts)

    def apply(self, event):
        if event.stream_id.startswith(self._prefix):
            account = self._accounts.setdefault(event.stream_id, Account(self._opening_limits))
            account.apply(event)

    def get(self, account_id):
        return self._accounts.get(self._prefix + account_id) or Account(self._opening_limits)
