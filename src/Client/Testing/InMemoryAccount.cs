using System.Globalization;

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

    // What an account may owe is not known before its currency is.
    private decimal Limit => _currency is null ? 0 : _limit;

    /// <summary>Records the expiry of the holds whose time is over, in their order.</summary>
    public void Expire(DateTimeOffset now)
    {
        foreach (var (id, (held, expiresAt)) in
            _holds.Where(hold => hold.Value.Held > 0 && hold.Value.ExpiresAt <= now)
                .OrderBy(hold => hold.Value.ExpiresAt).ToList())
        {
            Release(id, held);
            Add(StatementLineType.AuthorisationExpired, Guid.NewGuid(), expiresAt, Amount.Of(held, _currency), id);
        }
    }

    public Outcome<PaymentAnswer> Pay(Payment payment, DateTimeOffset now)
    {
        if (ReasonToDecline(payment.Amount) is var (reason, message))
        {
            var declined = Add(
                StatementLineType.PaymentDeclined, payment.Id, now,
                payment.Amount, reason: reason, notes: payment.Notes);
            return Declined<PaymentAnswer>(reason, message, declined);
        }
        _currency = payment.Amount.Currency;
        _balance += payment.Amount.Value;
        var line = Add(StatementLineType.PaymentAccepted, payment.Id, now, payment.Amount, notes: payment.Notes);
        return new(payment.Id, new PaymentAnswer
        {
            Balance = line.Balance,
            OnHold = line.OnHold!,
            DecidedAt = line.DecidedAt,
            Version = line.Version,
        });
    }

    public Outcome<HoldAnswer> Authorise(Hold hold, DateTimeOffset now)
    {
        if (ReasonToDecline(hold.Amount) is var (reason, message))
        {
            var declined = Add(
                StatementLineType.AuthorisationDeclined, hold.Id, now, hold.Amount, reason: reason, notes: hold.Notes);
            return Declined<HoldAnswer>(reason, message, declined);
        }
        _currency = hold.Amount.Currency;
        var expiresAt = now + hold.Duration;
        _holds[hold.Id] = (hold.Amount.Value, expiresAt);
        var line = Add(StatementLineType.PaymentAuthorised, hold.Id, now, hold.Amount, notes: hold.Notes);
        return new(hold.Id, new HoldAnswer
        {
            ExpiresAt = expiresAt,
            Balance = line.Balance,
            OnHold = line.OnHold!,
            DecidedAt = line.DecidedAt,
            Version = line.Version,
        });
    }

    public Outcome<CaptureAnswer> Capture(Capture capture, DateTimeOffset now)
    {
        var payment = FindPayment(capture.PaymentId);
        if ((RefusalOf(payment) ?? WithoutHold(payment!) ?? RefusalOf(
            payment!, capture.Amount, payment!.Payment!.Held.Value, "on hold of")) is var (reason, field, message))
        {
            return Rejected<CaptureAnswer>(capture.Id, reason, field, message);
        }
        Release(capture.PaymentId, capture.IsFinal ? payment!.Payment!.Held.Value : capture.Amount.Value);
        _balance += capture.Amount.Value;
        var line = Add(
            StatementLineType.PaymentCaptured, capture.Id, now,
            capture.Amount, capture.PaymentId, notes: capture.Notes);
        var captured = TotalsOf(capture.PaymentId);
        return new(capture.Id, new CaptureAnswer
        {
            Total = captured.Charged,
            Held = captured.Held,
            Balance = line.Balance,
            OnHold = line.OnHold!,
            DecidedAt = line.DecidedAt,
            Version = line.Version,
        });
    }

    public Outcome<HoldVoidAnswer> Void(HoldVoid request, DateTimeOffset now)
    {
        var payment = FindPayment(request.PaymentId);
        if ((RefusalOf(payment) ?? WithoutHold(payment!)) is var (reason, field, message))
        {
            return Rejected<HoldVoidAnswer>(request.Id, reason, field, message);
        }
        Release(request.PaymentId, payment!.Payment!.Held.Value);
        var line = Add(StatementLineType.AuthorisationVoided, request.Id, now, payment.Payment.Held, request.PaymentId);
        return new(request.Id, new HoldVoidAnswer
        {
            Released = payment.Payment.Held,
            Balance = line.Balance,
            OnHold = line.OnHold!,
            DecidedAt = line.DecidedAt,
            Version = line.Version,
        });
    }

    public Outcome<RefundAnswer> Refund(Refund refund, DateTimeOffset now)
    {
        var payment = FindPayment(refund.PaymentId);
        if ((RefusalOf(payment)
            ?? RefusalOf(
                payment!, refund.Amount, payment!.Payment!.Charged.Value - payment.Payment.Refunded.Value,
                "left of")) is var (reason, field, message))
        {
            return Rejected<RefundAnswer>(refund.Id, reason, field, message);
        }
        _balance -= refund.Amount.Value;
        var line = Add(
            StatementLineType.PaymentRefunded, refund.Id, now, refund.Amount, refund.PaymentId, notes: refund.Notes);
        return new(refund.Id, new RefundAnswer
        {
            Total = TotalsOf(refund.PaymentId).Refunded,
            Balance = line.Balance,
            OnHold = line.OnHold!,
            DecidedAt = line.DecidedAt,
            Version = line.Version,
        });
    }

    public Outcome<CreditLimitAnswer> Set(CreditLimitChange change, DateTimeOffset now)
    {
        if (_currency is { } currency && currency != change.Limit.Currency)
        {
            return Rejected<CreditLimitAnswer>(
                change.Id, RejectionReason.CurrencyMismatch, "limit.currency_code",
                $"limit.currency_code must be {currency}: the account is kept in it.");
        }
        _currency = change.Limit.Currency;
        _limit = change.Limit.Value;
        var line = Add(StatementLineType.CreditLimitChanged, change.Id, now, change.Limit);
        return new(change.Id, new CreditLimitAnswer
        {
            Limit = change.Limit,
            Balance = line.Balance,
            OnHold = line.OnHold!,
            DecidedAt = line.DecidedAt,
            Version = line.Version,
        });
    }

    public Outcome<AccountStatusAnswer> Set(AccountStatusChange change, DateTimeOffset now)
    {
        if (change.Status == AccountStatus.Closed && (_balance != 0 || OnHold != 0))
        {
            return Rejected<AccountStatusAnswer>(
                change.Id, RejectionReason.AccountNotEmpty, "account_status",
                $"The account cannot be closed: it owes {Amount.Of(_balance, _currency)}, and "
                    + $"{Amount.Of(OnHold, _currency)} is on hold.");
        }
        _status = change.Status;
        var line = Add(StatementLineType.AccountStatusChanged, change.Id, now, Amount.Of(null), notes: change.Notes);
        return new(change.Id, new AccountStatusAnswer
        {
            Status = change.Status,
            Balance = line.Balance,
            OnHold = line.OnHold!,
            DecidedAt = line.DecidedAt,
            Version = line.Version,
        });
    }

    public FoundTransaction? Find(Guid id) => _lines.Find(line => line.Id == id) is { } line
        ? new FoundTransaction(line, IsOfOperator(line) ? null : TotalsOf(line.PaymentId ?? id))
        : null;

    private FoundTransaction? FindPayment(Guid id) =>
        Find(id) is { Payment: not null, Line.PaymentId: null } payment ? payment : null;

    private PaymentTotals TotalsOf(Guid id)
    {
        var line = _lines.Find(line => line.Id == id)!;
        var currency = line.Amount.Currency;
        var charged =
            line.Type == StatementLineType.PaymentAccepted ? line.Amount : Sum(StatementLineType.PaymentCaptured);
        var isHeld = _holds.TryGetValue(id, out var hold);
        return new PaymentTotals(
            id, charged, Sum(StatementLineType.PaymentRefunded),
            Amount.Of(hold.Held, currency), isHeld ? hold.ExpiresAt : null);

        Amount Sum(StatementLineType type) =>
            Amount.Of(
                _lines.Where(other => other.PaymentId == id && other.Type == type).Sum(other => other.Amount.Value),
                currency);
    }

    public AccountBalance BalanceAsOf(DateTimeOffset now) => new(
        Amount.Of(_balance, _currency), Amount.Of(Math.Max(0, Limit - _balance - OnHold), _currency),
        Amount.Of(Limit, _currency), _lines.Count, now)
    {
        OnHold = Amount.Of(OnHold, _currency),
        Status = _status,
    };

    /// <summary>The balance as it was after a line; before all lines for version 0.</summary>
    public PastBalance BalanceAt(int version)
    {
        var line = version == 0 ? null : _lines[version - 1];
        var currency = line?.Balance.Currency;
        var limit = _lines.Take(version)
            .LastOrDefault(changed => changed.Type == StatementLineType.CreditLimitChanged)?.Amount.Value
            ?? (currency is null or "" ? 0 : _openingLimit);
        var (balance, onHold) = (line?.Balance.Value ?? 0, line?.OnHold!.Value ?? 0);
        return new PastBalance(
            Amount.Of(balance, currency), Amount.Of(Math.Max(0, limit - balance - onHold), currency),
            Amount.Of(limit, currency), Amount.Of(onHold, currency), version, line?.DecidedAt)
        {
            Status = line?.Status ?? AccountStatus.Open,
        };
    }

    private static Outcome<T> Declined<T>(DeclineReason reason, string message, StatementLine line)
        where T : Answer => new(
            line.Id, declined: new Decline
            {
                Reason = reason,
                Message = message,
                Balance = line.Balance,
                OnHold = line.OnHold!,
                DecidedAt = line.DecidedAt,
                Version = line.Version,
            });

    private static Outcome<T> Rejected<T>(Guid id, RejectionReason reason, string field, string message)
        where T : Answer => new(id, rejected: new Rejection { Reason = reason, Field = field, Message = message });

    private static bool IsOfOperator(StatementLine line) =>
        line.Type is StatementLineType.CreditLimitChanged or StatementLineType.AccountStatusChanged;

    private static (RejectionReason, string Field, string Message)? RefusalOf(FoundTransaction? payment) =>
        payment switch
        {
            null =>
                (RejectionReason.PaymentNotFound, "payment_id",
                    "The account has no recorded payment under this payment_id."),
            { Line.Type: StatementLineType.PaymentDeclined or StatementLineType.AuthorisationDeclined } =>
                (RejectionReason.PaymentDeclined, "payment_id",
                    "The payment was declined: nothing was charged for it."),
            _ => null,
        };

    private static (RejectionReason, string Field, string Message)? WithoutHold(FoundTransaction payment) =>
        payment.Payment!.Held.Value > 0
            ? null
            : (RejectionReason.NotOnHold, "payment_id",
                "Nothing of the payment is on hold: it was not authorised, is captured whole or voided, "
                    + "or has expired.");

    private static (RejectionReason, string Field, string Message)? RefusalOf(
        FoundTransaction payment, Amount amount, decimal most, string where) =>
        payment.Line.Amount.Currency != amount.Currency
            ? (RejectionReason.CurrencyMismatch, "amount.currency_code",
                $"amount.currency_code must be {payment.Line.Amount.Currency}: the account is kept in it.")
        : amount.Value > most
            ? (RejectionReason.AmountTooLarge, "amount",
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"amount must be at most {most:G29}: no more is {where} the payment."))
        : null;

    private (DeclineReason Reason, string Message)? ReasonToDecline(Amount amount) =>
        _status == AccountStatus.Frozen ? (DeclineReason.AccountFrozen, "The account is frozen.")
        : _status == AccountStatus.Closed ? (DeclineReason.AccountClosed, "The account is closed.")
        : _currency is { } currency && currency != amount.Currency
            ? (DeclineReason.CurrencyMismatch, "The account is kept in another currency.")
        : amount.Value > _limit - _balance - OnHold
            ? (DeclineReason.CreditLimitExceeded, "The amount is more than the account may still spend.")
        : null;

    private void Release(Guid payment, decimal amount) =>
        _holds[payment] = _holds[payment] with { Held = _holds[payment].Held - amount };

    // With the version, the balance and what is on hold as of now.
    private StatementLine Add(
        StatementLineType type, Guid id, DateTimeOffset decidedAt, Amount amount, Guid? paymentId = null,
        DeclineReason? reason = null, Notes? notes = null)
    {
        var line = new StatementLine(
            _lines.Count + 1, type, id, decidedAt, amount, Amount.Of(_balance, _currency), reason)
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
