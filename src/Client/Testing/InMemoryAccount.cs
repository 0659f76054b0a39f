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
        var line = Add(type, payment.Id, now, payment.Amount, reason);
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
        var line = Add(StatementEntryType.CreditLimitChanged, limit.Id, now, limit.Limit, DeclineReason.Unspecified);
        return new CreditLimitResult.Applied(limit.Id, limit.Limit, line.Balance, line.Version);
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

    private StatementLine Add(StatementEntryType type, Guid id, DateTimeOffset now, Amount amount, DeclineReason reason)
    {
        var line = new StatementLine(_lines.Count + 1, type, id, now, amount, Amount.Of(_balance, _currency), reason);
        _lines.Add(line);
        return line;
    }
}
