using Billing.Contracts;
using Billing.V1;
using static Billing.Client.RequestChecks;

namespace Billing.Client;

/// <summary>A payment to make. Its id makes retries safe: however often it is sent, it is charged once.</summary>
public sealed record Payment
{
    /// <summary>Creates a new payment with a new id, a UUID of version 7: such ids order by time, so that the platform
    /// stores those of one time side by side. Keep the payment, or its id, until its outcome is known.</summary>
    /// <exception cref="ArgumentException">See the other constructor.</exception>
    public Payment(CardAccount account, Amount amount)
        : this(OrderedId.New(), account, amount)
    {
    }

    /// <summary>Creates a payment with an existing id: to retry a payment whose outcome is unknown, or to use an id of
    /// your own, for instance that of an order.</summary>
    /// <param name="id">The idempotency key; not empty.</param>
    /// <param name="account">The account to charge.</param>
    /// <param name="amount">More than zero and at most 1,000,000,000.</param>
    /// <exception cref="ArgumentException">The id is empty, or the amount is out of range.</exception>
    public Payment(Guid id, CardAccount account, Amount amount)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentNullException.ThrowIfNull(amount);
        Id = id;
        Account = account;
        Amount = amount;
        Message = new MakePaymentRequest
        {
            TransactionId = id.ToString(),
            AccountId = account.Id,
            PaymentType = account.Type,
            Amount = amount.ToMoney(),
        };
        if (FieldRules.Check(Message) is { } violation)
        {
            throw new ArgumentException(
                violation.ToString(), violation.Field == "transaction_id" ? nameof(id) : nameof(amount));
        }
    }

    /// <summary>The idempotency key.</summary>
    public Guid Id { get; }

    /// <summary>The account to charge.</summary>
    public CardAccount Account { get; }

    /// <summary>The amount to charge.</summary>
    public Amount Amount { get; }

    /// <summary>What you keep with it, to match it with records of your own; part of what a retry has to repeat.
    /// Null for nothing.</summary>
    /// <exception cref="ArgumentException">Something is too long, or has other characters than are allowed:
    /// see <see cref="Client.Notes"/>.</exception>
    public Notes? Notes
    {
        get;
        init
        {
            field = value;
            Message = Checked(
                new MakePaymentRequest(Message) { Notes = value?.ToMessage() }, FieldRules.Check, nameof(value));
        }
    }

    internal MakePaymentRequest Message { get; private init; }
}

/// <summary>The answer to a payment: it is charged.</summary>
public sealed record PaymentAnswer : Answer;

/// <summary>Checks requests when they are created.</summary>
internal static class RequestChecks
{
    /// <summary>A request that breaks no rule.</summary>
    /// <param name="request">The request.</param>
    /// <param name="check">Returns the first rule that it breaks, or null.</param>
    /// <param name="parameter">What was given for the field in question.</param>
    /// <exception cref="ArgumentException">It breaks a rule.</exception>
    public static T Checked<T>(T request, Func<T, FieldViolation?> check, string parameter) =>
        check(request) is { } violation ? throw new ArgumentException(violation.ToString(), parameter) : request;
}
