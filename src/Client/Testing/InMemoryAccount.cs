using System.Globalization;
using Billing.V1;

namespace Billing.Client.Testing;

/// <summary>One account of <see cref="InMemoryBilling"/>, which serializes the calls.</summary>
internal sealed class InMemoryAccount(decimal creditLimit)
{
    private readonly List<StatementLine> _lines = [];
    private decimal _limit = creditLimit;
    private decimal _balance;

    // Set by the first accepted payment or limit.
    private string? _currency;

    public IReadOnlyList<StatementLine> Lines => _lines;

    public PaymentResult Pay(Payment payment, DateTimeOffset now)
    {
        var (reason, message) = ReasonToDecline(payment.Amount);
        if (reason == DeclineReason.Unspecified)
        {
            _currency = payment.Amount.Currency;
            _balance += payment.Amount.Value;
        }
        var type = reason == DeclineReason.Unspecified ? StatementEntryType.PaymentAccepted : StatementEntryType.PaymentDeclined;
        var line = Add(new StatementLine(0, type, payment.Id, now, payment.Amount, payment.Amount, reason));
        return reason == DeclineReason.Unspecified
            ? new PaymentResult.Accepted(payment.Id, line.Balance, line.Version)
            : new PaymentResult.Declined(payment.Id, reason, message, line.Balance, line.Version);
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
        var line = Add(new StatementLine(0, StatementEntryType.CreditLimitChanged, limit.Id, now, limit.Limit, limit.Limit));
        return new CreditLimitResult.Applied(limit.Id, limit.Limit, line.Balance, line.Version);
    }

    public FoundPayment? Find(Guid id) =>
        _lines.Find(line => line.Id == id && line.Type is StatementEntryType.PaymentAccepted or StatementEntryType.PaymentDeclined) is { } payment
            ? new FoundPayment(payment, Amount.Of(
                _lines.Where(line => line.PaymentId == id).Sum(line => line.Amount.Value), payment.Amount.Currency))
            : null;

    public RefundResult Refund(Refund refund, DateTimeOffset now)
    {
        if (Find(refund.PaymentId) is not { } payment)
        {
            return Rejected(RejectionReason.PaymentNotFound, "payment_id", "The account has no recorded payment under this payment_id.");
        }
        if (payment.Line.Type == StatementEntryType.PaymentDeclined)
        {
            return Rejected(RejectionReason.PaymentDeclined, "payment_id", "The payment was declined: nothing was charged for it.");
        }
        if (payment.Line.Amount.Currency != refund.Amount.Currency)
        {
            return Rejected(
                RejectionReason.CurrencyMismatch, "amount.currency_code",
                $"amount.currency_code must be {payment.Line.Amount.Currency}: the account is kept in it.");
        }
        var left = payment.Line.Amount.Value - payment.Refunded.Value;
        if (refund.Amount.Value > left)
        {
            return Rejected(
                RejectionReason.AmountTooLarge, "amount",
                string.Create(CultureInfo.InvariantCulture, $"amount must be at most {left}: no more is left of the payment."));
        }
        _balance -= refund.Amount.Value;
        var line = Add(
            new StatementLine(0, StatementEntryType.PaymentRefunded, refund.Id, now, refund.Amount, refund.Amount) { PaymentId = refund.PaymentId });
        return new RefundResult.Refunded(
            refund.Id, Amount.Of(payment.Refunded.Value + refund.Amount.Value, refund.Amount.Currency), line.Balance, line.Version);

        RefundResult.Rejected Rejected(RejectionReason reason, string field, string message) => new(refund.Id, reason, field, message);
    }

    public AccountBalance BalanceAsOf(DateTimeOffset now) => new(
        Amount.Of(_balance, _currency), Amount.Of(Math.Max(0, _limit - _balance), _currency), Amount.Of(_limit, _currency), _lines.Count, now);

    private (DeclineReason Reason, string Message) ReasonToDecline(Amount amount)
    {
        if (_currency is { } currency && currency != amount.Currency)
        {
            return (DeclineReason.CurrencyMismatch, "The account is kept in another currency.");
        }
        return amount.Value > _limit - _balance
            ? (DeclineReason.CreditLimitExceeded, "The amount is more than the account may still spend.")
            : default;
    }

    // With the version and the balance as of now.
    private StatementLine Add(StatementLine entry)
    {
        var line = entry with { Version = _lines.Count + 1, Balance = Amount.Of(_balance, _currency) };
        _lines.Add(line);
        return line;
    }
}
