"""python3 -m unittest, with the generated modules on PYTHONPATH."""

import unittest

from accounts import NANOS_PER_UNIT, Account, Accounts, money_of, nanos_of
from billing.v1 import billing_pb2
from billing.wire.v1 import wire_pb2

OPENING = {"USD": 100 * NANOS_PER_UNIT}


def dollars(units, nanos=0):
    return billing_pb2.Money(currency_code="USD", units=units, nanos=nanos)


def paid(version, balance, stream="amex/a", at=0):
    return wire_pb2.Event(
        stream_id=stream, version=version, balance=dollars(balance), decided_unix_us=at,
        payment_accepted=wire_pb2.PaymentAccepted(amount=dollars(1)))


def limited(version, limit, balance=0, at=0):
    return wire_pb2.Event(
        stream_id="amex/a", version=version, balance=dollars(balance), decided_unix_us=at,
        credit_limit_changed=wire_pb2.CreditLimitChanged(limit=dollars(limit)))


class AccountTests(unittest.TestCase):
    def account(self, *events):
        account = Account(OPENING)
        for event in events:
            account.apply(event)
        return account

    def test_an_account_without_events_owes_nothing_and_has_no_limit(self):
        answer = self.account().balance(0)
        self.assertEqual((answer.version, answer.balance, answer.available.units), (0, billing_pb2.Money(), 0))

    def test_an_event_up_to_the_current_version_is_ignored(self):
        account = self.account(paid(1, 5), paid(1, 5), paid(2, 7), paid(1, 5))
        self.assertEqual((account.version, account.balance(0).balance.units), (2, 7))

    def test_after_a_restore_the_new_events_take_the_place_of_the_lost_ones(self):
        account = self.account(paid(1, 5), limited(2, 50, balance=5), paid(3, 9))
        new = paid(2, 6)
        new.incarnation = 7
        account.apply(new)
        account.apply(paid(3, 9))
        answer = account.balance(0)
        self.assertEqual((answer.version, answer.balance.units, answer.available.units), (2, 6, 94))

    def test_an_event_after_a_gap_waits_for_the_missing_one_and_its_limit(self):
        account = self.account(paid(1, 5), paid(3, 9))
        self.assertTrue(account.has_gap)
        self.assertEqual(account.version, 1)
        account.apply(limited(2, 50, balance=5))
        self.assertFalse(account.has_gap)
        answer = account.balance(0)
        self.assertEqual((answer.version, answer.balance.units, answer.available.units), (3, 9, 41))

    def test_available_is_never_negative(self):
        self.assertEqual(self.account(paid(1, 90), limited(2, 10, balance=90)).balance(0).available.units, 0)

    def test_a_fact_of_an_unknown_kind_leaves_the_account_unknown(self):
        self.assertTrue(self.account(wire_pb2.Event(stream_id="amex/a", version=1, balance=dollars(1))).is_unknown)

    def test_what_is_recorded_is_found_by_its_id(self):
        payment = paid(2, 7)
        payment.transaction_id = "6a0d2a5e-1f0b-4a5c-8b1e-000000000001"
        account = self.account(limited(1, 50), payment)
        found = account.transaction(payment.transaction_id.upper())
        self.assertEqual(found.entry, account.page(wire_pb2.StatementPageRequest(after_version=1, limit=1)).entries[0])
        self.assertEqual((found.payment.payment_id, found.payment.charged.units), (payment.transaction_id, 1))
        entry = account.page(wire_pb2.StatementPageRequest(limit=1)).entries[0]
        self.assertFalse(account.transaction(entry.transaction_id).HasField("payment"))
        self.assertIsNone(account.transaction("6a0d2a5e-1f0b-4a5c-8b1e-000000000002"))

    def test_a_payment_shows_what_was_given_back_of_it_and_the_statement_its_id(self):
        payment = paid(1, 1)
        payment.transaction_id = "6a0d2a5e-1f0b-4a5c-8b1e-000000000001"
        refund = wire_pb2.Event(
            stream_id="amex/a", version=2, transaction_id="6a0d2a5e-1f0b-4a5c-8b1e-000000000002",
            balance=dollars(0, 400_000_000), payment_refunded=wire_pb2.PaymentRefunded(
                payment_id=payment.transaction_id, amount=dollars(0, 600_000_000),
                charged=dollars(1), refunded=dollars(0, 600_000_000)))
        account = self.account(payment, refund)
        for transaction_id in (payment.transaction_id, refund.transaction_id):
            self.assertEqual(account.transaction(transaction_id).payment.refunded.nanos, 600_000_000)
        entry = account.page(wire_pb2.StatementPageRequest(after_version=1, limit=1)).entries[0]
        self.assertEqual(entry.type, billing_pb2.STATEMENT_ENTRY_TYPE_PAYMENT_REFUNDED)
        self.assertEqual(entry.payment_id, payment.transaction_id)

    def test_a_hold_lowers_what_is_available_until_it_is_captured(self):
        hold = wire_pb2.Event(
            stream_id="amex/a", version=1, balance=dollars(0), on_hold=dollars(60),
            transaction_id="6a0d2a5e-1f0b-4a5c-8b1e-000000000001",
            payment_authorised=wire_pb2.PaymentAuthorised(amount=dollars(60), expire_unix_us=7_000_000))
        capture = wire_pb2.Event(
            stream_id="amex/a", version=2, balance=dollars(20), payment_captured=wire_pb2.PaymentCaptured(
                payment_id=hold.transaction_id, amount=dollars(20), released=dollars(40),
                charged=dollars(20), refunded=dollars(0), held=dollars(0)))
        held, captured = self.account(hold), self.account(hold, capture)
        self.assertEqual((held.balance(0).available.units, held.balance(0).on_hold.units), (40, 60))
        self.assertEqual((captured.balance(0).available.units, captured.balance(0).on_hold.units), (80, 0))
        found = captured.transaction(hold.transaction_id)
        self.assertEqual((found.entry.amount.units, found.payment.charged.units, found.payment.held.units), (60, 20, 0))
        self.assertEqual(found.payment.expire_time.seconds, 7)
        entries = captured.page(wire_pb2.StatementPageRequest(limit=2)).entries
        self.assertEqual([(e.type, e.amount.units, e.on_hold.units) for e in entries], [
            (billing_pb2.STATEMENT_ENTRY_TYPE_PAYMENT_AUTHORISED, 60, 60),
            (billing_pb2.STATEMENT_ENTRY_TYPE_PAYMENT_CAPTURED, 20, 0)])

    def test_a_frozen_account_stays_so_until_an_event_does_not_state_it(self):
        frozen = wire_pb2.Event(
            stream_id="amex/a", version=2, balance=dollars(5), account_status=billing_pb2.ACCOUNT_STATUS_FROZEN,
            account_status_changed=wire_pb2.AccountStatusChanged(status=billing_pb2.ACCOUNT_STATUS_FROZEN))
        frozen.notes.reference = "case 7"
        account = self.account(paid(1, 5), frozen, paid(3, 6))
        entries = account.page(wire_pb2.StatementPageRequest(limit=3)).entries
        self.assertEqual([e.account_status for e in entries], [
            billing_pb2.ACCOUNT_STATUS_OPEN, billing_pb2.ACCOUNT_STATUS_FROZEN, billing_pb2.ACCOUNT_STATUS_OPEN])
        self.assertEqual(entries[1].type, billing_pb2.STATEMENT_ENTRY_TYPE_ACCOUNT_STATUS_CHANGED)
        self.assertEqual(entries[1].notes.reference, "case 7")
        self.assertFalse(entries[1].HasField("amount"))
        second = account.balance_at(billing_pb2.GetBalanceAtRequest(version=2))
        self.assertEqual(second.account_status, billing_pb2.ACCOUNT_STATUS_FROZEN)
        self.assertEqual(account.balance(0).account_status, billing_pb2.ACCOUNT_STATUS_OPEN)

    def test_pages_are_consecutive_and_close_with_the_account_as_of_their_last_event(self):
        account = self.account(paid(1, 5), limited(2, 50, balance=5), paid(3, 9))
        first = account.page(wire_pb2.StatementPageRequest(limit=2))
        second = account.page(wire_pb2.StatementPageRequest(after_version=2, limit=2))
        beyond = account.page(wire_pb2.StatementPageRequest(after_version=9, limit=2))
        self.assertEqual([e.version for e in first.entries], [1, 2])
        self.assertTrue(first.has_more)
        self.assertEqual((first.closing.version, first.closing.credit_limit.units), (2, 50))
        self.assertEqual([e.version for e in second.entries], [3])
        self.assertFalse(second.has_more or beyond.has_more or beyond.entries)
        self.assertEqual(beyond.closing.version, 3)

    def test_a_page_has_only_the_events_of_the_range_and_the_types_that_are_asked_for(self):
        account = self.account(
            paid(1, 5, at=1), limited(2, 50, balance=5, at=2), paid(3, 9, at=3), paid(4, 10, at=4), paid(5, 11, at=5))
        request = wire_pb2.StatementPageRequest(limit=1, types=[billing_pb2.STATEMENT_ENTRY_TYPE_PAYMENT_ACCEPTED])
        request.start_time.FromMicroseconds(2)
        request.end_time.FromMicroseconds(5)
        first = account.page(request)
        request.after_version = first.read_to
        second = account.page(request)
        pages = [(p.entries[0].version, len(p.entries), p.has_more) for p in (first, second)]
        self.assertEqual(pages, [(3, 1, True), (4, 1, False)])
        self.assertFalse(first.HasField("closing"))

    def test_a_balance_of_the_past_is_that_after_a_version_or_the_last_event_until_a_time(self):
        account = self.account(paid(1, 5, at=10), limited(2, 50, balance=5, at=20), paid(3, 9, at=30))

        def at(time):
            request = billing_pb2.GetBalanceAtRequest()
            request.time.FromMicroseconds(time)
            return account.balance_at(request)

        opening, second = (account.balance_at(billing_pb2.GetBalanceAtRequest(version=version)) for version in (0, 2))
        self.assertEqual((opening.balance, opening.credit_limit.units), (billing_pb2.Money(), 0))
        self.assertFalse(opening.HasField("decide_time"))
        self.assertEqual((second.balance.units, second.available.units), (5, 45))
        self.assertEqual(second.decide_time.ToMicroseconds(), 20)
        self.assertEqual([at(time).version for time in (9, 10, 19, 20, 1000)], [0, 1, 1, 2, 3])

    def test_accounts_of_other_types_are_left_out(self):
        accounts = Accounts("amex", OPENING)
        accounts.apply(paid(1, 5, stream="visa/a"))
        accounts.apply(paid(1, 6))
        self.assertEqual((len(accounts), accounts.get("a").version, accounts.get("b").version), (1, 1, 0))

    def test_money_keeps_its_billionths_and_signs(self):
        for units, nanos in [(0, 0), (1, 1), (12, 340_000_000), (-1, -500_000_000), (0, -1)]:
            money = dollars(units, nanos)
            self.assertEqual(money_of(nanos_of(money), "USD"), money)


if __name__ == "__main__":
    unittest.main()
