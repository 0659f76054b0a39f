namespace Billing.Backends.Domain;

/// <summary>The command to release what is still on hold of a payment.</summary>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="Of">The transaction id of the payment.</param>
/// <param name="TraceId">The id of its trace if it is traced; stored with the event.</param>
public sealed record Voiding(Guid TransactionId, Guid Of, string? TraceId = null) : AccountCommand(TransactionId)
{
    /// <inheritdoc/>
    public override Guid? PaymentId => Of;

    /// <inheritdoc/>
    public override Decision Decide(Account account, PaymentState? payment, DateTimeOffset now) =>
        Hold.Refusal(payment) is { } refusal
            ? refusal
            : new AuthorisationVoided(TransactionId, Of, payment!.Held, payment.Currency, now, TraceId)
            {
                Charged = payment.Charged,
                Refunded = payment.Refunded,
                Held = 0,
                Balance = account.Balance,
                OnHold = Stated(account.OnHold - payment.Held),
                Status = Stated(account.Status),
                By = By,
            };
}

/// <summary>The platform's command to release what is on hold of a payment whose time is over.</summary>
/// <param name="TransactionId">An id of its own: that it is recorded once follows from the
/// state of the payment.</param>
/// <param name="Of">The transaction id of the payment.</param>
/// <param name="AsOf">The time when it was found to be over.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record Expiring(Guid TransactionId, Guid Of, DateTimeOffset AsOf, string? TraceId = null)
    : AccountCommand(TransactionId)
{
    /// <inheritdoc/>
    public override Guid? PaymentId => Of;

    /// <inheritdoc/>
    public override Decision Decide(Account account, PaymentState? payment, DateTimeOffset now) => payment switch
    {
        null => new Refusal.NoSuchPayment(),
        _ when payment.Held == 0 || payment.ExpiresAt > AsOf => new Refusal.NothingOnHold(),
        _ => new AuthorisationExpired(TransactionId, Of, payment.Held, payment.Currency, now)
        {
            Charged = payment.Charged,
            Refunded = payment.Refunded,
            Held = 0,
            Balance = account.Balance,
            OnHold = Stated(account.OnHold - payment.Held),
            Status = Stated(account.Status),
        },
    };
}

/// <summary>What captures and voidings have in common.</summary>
internal static class Hold
{
    /// <summary>Why nothing of a payment can be captured or voided; null if something can. A hold is over when its
    /// expiry is recorded, and not by the time: backends whose clocks differ must not decide two copies of one
    /// request differently.</summary>
    public static Refusal? Refusal(PaymentState? payment) => payment switch
    {
        null => new Refusal.NoSuchPayment(),
        { IsDeclined: true } => new Refusal.PaymentWasDeclined(),
        _ when payment.Held == 0 => new Refusal.NothingOnHold(),
        _ => null,
    };
}

/// <summary>What was still on hold of a payment was released.</summary>
public abstract record HoldReleased : PaymentFollowUp
{
    /// <summary>What is not on hold any more; more than zero.</summary>
    public abstract decimal Released { get; init; }

    /// <summary>ISO 4217; the account's own.</summary>
    public abstract string Currency { get; init; }

    internal override string AccountCurrency => Currency;

    internal override Account ApplyTo(Account account) => account.Next(Currency, held: -Released);
}

/// <summary>It was released on request.</summary>
/// <param name="TransactionId">The idempotency key of the request.</param>
/// <param name="PaymentId">The transaction id of the payment.</param>
/// <param name="Released">What is not on hold any more; more than zero.</param>
/// <param name="Currency">ISO 4217; the account's own.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record AuthorisationVoided(
    Guid TransactionId, Guid PaymentId, decimal Released, string Currency,
    DateTimeOffset DecidedAt, string? TraceId = null) : HoldReleased;

/// <summary>It was released since its time was over.</summary>
/// <param name="TransactionId">An id of the platform.</param>
/// <param name="PaymentId">The transaction id of the payment.</param>
/// <param name="Released">What is not on hold any more; more than zero.</param>
/// <param name="Currency">ISO 4217; the account's own.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record AuthorisationExpired(
    Guid TransactionId, Guid PaymentId, decimal Released, string Currency,
    DateTimeOffset DecidedAt, string? TraceId = null) : HoldReleased;
