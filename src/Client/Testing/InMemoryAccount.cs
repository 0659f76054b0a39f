using System.Globalization;
using Billing.Contracts;
using Billing.V1;

namespace Billing.Client.Testing;

/// <summary>One account of <see cref="InMemoryBilling"/>, which serializes the calls.</summary>
internal sealed class InMemoryAccount(decimal creditLimit)
{
    private readonly List<StatementLine> _lines = [];

    // By payment: what is on hold of it, which is zero at the end, and until when.
    private readonly Dictionary<Guid, (decimal Held, DateTimeOffset ExpiresAt)> _holds = [];

    private readonly decimal _openingLimit = creditLimit;
    private decimal _limit = creditLimit;
    private decimal _balance;
    private AccountStatus _status = AccountStatus.Open;

    // Set by the first accepted payment, hold or limit.
    private string? _currency;

    public IReadOnlyList<StatementLine> Lines => _lines;

    private decimal OnHold => _holds.Values.Sum(hold => hold.Held);

    /// <summary>Records the expiry of the holds whose time is over, in their order.</summary>
    public void Expire(DateTimeOffset now)
    {
        foreach (var (id, (held, expiresAt)) in
            _holds.Where(hold => hold.Value.Held > 0 && hold.Value.ExpiresAt <= now).OrderBy(hold => hold.Value.ExpiresAt).ToList())
        {
            Release(id, held);
            Add(StatementEntryType.AuthorisationExpired, Guid.NewGuid(), expiresAt, Amount.Of(held, _currency), id);
        }
    }

    public PaymentResult Pay(Payment payment, DateTimeOffset now)
    {
        if (ReasonToDecline(payment.Amount) is var (reason, message))
        {
            var declined = Add(StatementEntryType.PaymentDeclined, payment.Id, now, payment.Amount, reason: reason, notes: payment.Notes);
            return new PaymentResult.Declined(payment.Id, reason, message, declined.Balance, declined.Version);
        }
        _currency = payment.Amount.Currency;
        _balance += payment.Amount.Value;
        var line = Add(StatementEntryType.PaymentAccepted, payment.Id, now, payment.Amount, notes: payment.Notes);
        return new PaymentResult.Accepted(payment.Id, line.Balance, line.Version);
    }

    public HoldResult Authorise(Hold hold, DateTimeOffset now)
    {
        if (ReasonToDecline(hold.Amount) is var (reason, message))
        {
            var declined = Add(StatementEntryType.AuthorisationDeclined, hold.Id, now, hold.Amount, reason: reason, notes: hold.Notes);
            return new HoldResult.Declined(hold.Id, reason, message, declined.Balance, declined.Version);
        }
        _currency = hold.Amount.Currency;
        var expiresAt = now + hold.Duration;
        _holds[hold.Id] = (hold.Amount.Value, expiresAt);
        var line = Add(StatementEntryType.PaymentAuthorised, hold.Id, now, hold.Amount, notes: hold.Notes);
        return new HoldResult.Authorised(hold.Id, expiresAt, line.Balance, line.OnHold!, line.Version);
    }

    public CaptureResult Capture(Capture capture, DateTimeOffset now)
    {
        var payment = Find(capture.PaymentId);
        if ((RefusalOf(payment) ?? WithoutHold(payment!) ?? RefusalOf(payment!, capture.Amount, payment!.Held.Value, "on hold of")) is var (reason, field, message))
        {
            return new CaptureResult.Rejected(capture.Id, reason, field, message);
        }
        Release(capture.PaymentId, capture.IsFinal ? payment!.Held.Value : capture.Amount.Value);
        _balance += capture.Amount.Value;
        var line = Add(StatementEntryType.PaymentCaptured, capture.Id, now, capture.Amount, capture.PaymentId, notes: capture.Notes);
        var captured = Find(capture.PaymentId)!;
        return new CaptureResult.Captured(capture.Id, captured.Charged, captured.Held, line.Balance, line.Version);
    }

    public HoldVoidResult Void(HoldVoid request, DateTimeOffset now)
    {
        var payment = Find(request.PaymentId);
        if ((RefusalOf(payment) ?? WithoutHold(payment!)) is var (reason, field, message))
        {
            return new HoldVoidResult.Rejected(request.Id, reason, field, message);
        }
        Release(request.PaymentId, payment!.Held.Value);
        var line = Add(StatementEntryType.AuthorisationVoided, request.Id, now, payment.Held, request.PaymentId);
        return new HoldVoidResult.Voided(request.Id, payment.Held, line.Balance, line.Version);
    }

    public RefundResult Refund(Refund refund, DateTimeOffset now)
    {
        var payment = Find(refund.PaymentId);
        if ((RefusalOf(payment) ?? RefusalOf(payment!, refund.Amount, payment!.Charged.Value - payment.Refunded.Value, "left of")) is var (reason, field, message))
        {
            return new RefundResult.Rejected(refund.Id, reason, field, message);
        }
        _balance -= refund.Amount.Value;
        var line = Add(StatementEntryType.PaymentRefunded, refund.Id, now, refund.Amount, refund.PaymentId, notes: refund.Notes);
        return new RefundResult.Refunded(refund.Id, Find(refund.PaymentId)!.Refunded, line.Balance, line.Version);
    }

    public CreditLimitResult Set(CreditLimit limit, DateTimeOffset now)
    {
        if (_currency is { } currency && currency != limit.Limit.Currency)
        {
            return new CreditLimitResult.Rejected(
                limit.Id, RejectionReason.CurrencyMismatch, "limit.currency_code",
                $"limit.currency_code must be {currency}: the account is kept in it.");
        }
        _currency = limit.Limit.Currency;
        _limit = limit.Limit.Value;
        var line = Add(StatementEntryType.CreditLimitChanged, limit.Id, now, limit.Limit);
        return new CreditLimitResult.Applied(limit.Id, limit.Limit, line.Balance, line.Version);
    }

    public AccountStatusResult Set(AccountStatusChange change, DateTimeOffset now)
    {
        if (change.Status == AccountStatus.Closed && (_balance != 0 || OnHold != 0))
        {
            return new AccountStatusResult.Rejected(
                change.Id, RejectionReason.AccountNotEmpty, "account_status",
                $"The account cannot be closed: it owes {Amount.Of(_balance, _currency)}, and {Amount.Of(OnHold, _currency)} is on hold.");
        }
        _status = change.Status;
        var line = Add(StatementEntryType.AccountStatusChanged, change.Id, now, Amount.Of(null), notes: change.Notes);
        return new AccountStatusResult.Applied(change.Id, change.Status, line.Balance, line.OnHold!, line.Version);
    }

    public FoundPayment? Find(Guid id)
    {
        if (_lines.Find(line => line.Id == id && line.PaymentId is null && !IsOfOperator(line)) is not { } line)
        {
            return null;
        }
        var currency = line.Amount.Currency;
        var charged = line.Type == StatementEntryType.PaymentAccepted ? line.Amount : Sum(StatementEntryType.PaymentCaptured);
        var isHeld = _holds.TryGetValue(id, out var hold);
        return new FoundPayment(
            line, charged, Sum(StatementEntryType.PaymentRefunded), Amount.Of(hold.Held, currency), isHeld ? hold.ExpiresAt : null);

        Amount Sum(StatementEntryType type) =>
            Amount.Of(_lines.Where(other => other.PaymentId == id && other.Type == type).Sum(other => other.Amount.Value), currency);
    }

    public AccountBalance BalanceAsOf(DateTimeOffset now) => new(
        Amount.Of(_balance, _currency), Amount.Of(Math.Max(0, _limit - _balance - OnHold), _currency), Amount.Of(_limit, _currency), _lines.Count, now)
    {
        OnHold = Amount.Of(OnHold, _currency),
        Status = _status,
    };

    /// <summary>The balance as it was after a line; before all lines for version 0.</summary>
    public FormerBalance BalanceAt(int version)
    {
        var line = version == 0 ? null : _lines[version - 1];
        var currency = line?.Balance.Currency;
        var limit = _lines.Take(version).LastOrDefault(changed => changed.Type == StatementEntryType.CreditLimitChanged)?.Amount.Value ?? _openingLimit;
        var (balance, onHold) = (line?.Balance.Value ?? 0, line?.OnHold!.Value ?? 0);
        return new FormerBalance(
            Amount.Of(balance, currency), Amount.Of(Math.Max(0, limit - balance - onHold), currency), Amount.Of(limit, currency),
            Amount.Of(onHold, currency), version, line?.DecidedAt)
        {
            Status = line?.Status ?? AccountStatus.Open,
        };
    }

    private static bool IsOfOperator(StatementLine line) =>
        line.Type is StatementEntryType.CreditLimitChanged or StatementEntryType.AccountStatusChanged;

    private static (RejectionReason, string Field, string Message)? RefusalOf(FoundPayment? payment) => payment switch
    {
        null => (RejectionReason.PaymentNotFound, "payment_id", "The account has no recorded payment under this payment_id."),
        { Line.Type: StatementEntryType.PaymentDeclined or StatementEntryType.AuthorisationDeclined } =>
            (RejectionReason.PaymentDeclined, "payment_id", "The payment was declined: nothing was charged for it."),
        _ => null,
    };

    private static (RejectionReason, string Field, string Message)? WithoutHold(FoundPayment payment) => payment.Held.Value > 0
        ? null
        : (RejectionReason.NotOnHold, "payment_id",
            "Nothing of the payment is on hold: it was not authorised, is captured whole or voided, or has expired.");

    private static (RejectionReason, string Field, string Message)? RefusalOf(FoundPayment payment, Amount amount, decimal most, string where) =>
        payment.Line.Amount.Currency != amount.Currency
            ? (RejectionReason.CurrencyMismatch, "amount.currency_code",
                $"amount.currency_code must be {payment.Line.Amount.Currency}: the account is kept in it.")
        : amount.Value > most
            ? (RejectionReason.AmountTooLarge, "amount",
                string.Create(CultureInfo.InvariantCulture, $"amount must be at most {most:G29}: no more is {where} the payment."))
        : null;

    private (DeclineReason Reason, string Message)? ReasonToDecline(Amount amount) =>
        _status == AccountStatus.Frozen ? (DeclineReason.AccountFrozen, "The account is frozen.")
        : _status == AccountStatus.Closed ? (DeclineReason.AccountClosed, "The account is closed.")
        : _currency is { } currency && currency != amount.Currency
            ? (DeclineReason.CurrencyMismatch, "The account is kept in another currency.")
        : amount.Value > _limit - _balance - OnHold
            ? (DeclineReason.CreditLimitExceeded, "The amount is more than the account may still spend.")
        : null;

    private void Release(Guid payment, decimal amount) => _holds[payment] = _holds[payment] with { Held = _holds[payment].Held - amount };

    // With the version, the balance and what is on hold as of now.
    private StatementLine Add(
        StatementEntryType type, Guid id, DateTimeOffset decidedAt, Amount amount, Guid? paymentId = null, DeclineReason reason = DeclineReason.Unspecified,
        Notes? notes = null)
    {
        var line = new StatementLine(_lines.Count + 1, type, id, decidedAt, amount, Amount.Of(_balance, _currency), reason)
        {
            PaymentId = paymentId,
            OnHold = Amount.Of(OnHold, _currency),
            Status = _status,
            Notes = notes,
        };
        _lines.Add(line);
        return line;
    }
}
