using System.Diagnostics.CodeAnalysis;

namespace Billing.Client;

/// <summary>What has become of a request: one of four cases, of which exactly one is not null. <see cref="Match"/> and
/// <see cref="Switch"/> take what to do in each of them, so that the compiler refuses a program
/// that forgets one.</summary>
/// <typeparam name="T">The answer to a request that was carried out.</typeparam>
public sealed record Outcome<T>
    where T : Answer
{
    internal Outcome(
        Guid id, T? accepted = null, Decline? declined = null,
        Rejection? rejected = null, Uncertainty? unknown = null) =>
        (Id, Accepted, Declined, Rejected, Unknown) = (id, accepted, declined, rejected, unknown);

    /// <summary>The id of the request.</summary>
    public Guid Id { get; }

    /// <summary>Which of the cases it is.</summary>
    public OutcomeStatus Status =>
        Accepted is not null ? OutcomeStatus.Accepted
        : Declined is not null ? OutcomeStatus.Declined
        : Rejected is not null ? OutcomeStatus.Rejected
        : OutcomeStatus.Unknown;

    /// <summary>Carried out and recorded: the platform's answer, which a retry gets too.
    /// Null in the other cases.</summary>
    public T? Accepted { get; }

    /// <summary>Not charged or put on hold, because of the account. The decision is recorded: a retry gets the
    /// same; for another attempt make another request, with an id of its own. Only of payments and holds; null
    /// in the other cases.</summary>
    public Decline? Declined { get; }

    /// <summary>Not carried out by this call, and not recorded: a retry gets the same, unless the cause is mended.
    /// Null in the other cases.</summary>
    public Rejection? Rejected { get; }

    /// <summary>Carried out or not: send the same request again, with the same id, which is safe, until it is known.
    /// Null in the other cases.</summary>
    public Uncertainty? Unknown { get; }

    /// <summary>Returns what the function for the case makes of it.</summary>
    /// <param name="accepted">For <see cref="Accepted"/>.</param>
    /// <param name="declined">For <see cref="Declined"/>.</param>
    /// <param name="rejected">For <see cref="Rejected"/>.</param>
    /// <param name="unknown">For <see cref="Unknown"/>.</param>
    public TResult Match<TResult>(
        Func<T, TResult> accepted, Func<Decline, TResult> declined,
        Func<Rejection, TResult> rejected, Func<Uncertainty, TResult> unknown)
    {
        ArgumentNullException.ThrowIfNull(accepted);
        ArgumentNullException.ThrowIfNull(declined);
        ArgumentNullException.ThrowIfNull(rejected);
        ArgumentNullException.ThrowIfNull(unknown);
        return Accepted is not null ? accepted(Accepted)
            : Declined is not null ? declined(Declined)
            : Rejected is not null ? rejected(Rejected)
            : unknown(Unknown!);
    }

    /// <summary>Calls the action for the case.</summary>
    /// <param name="accepted">For <see cref="Accepted"/>.</param>
    /// <param name="declined">For <see cref="Declined"/>.</param>
    /// <param name="rejected">For <see cref="Rejected"/>.</param>
    /// <param name="unknown">For <see cref="Unknown"/>.</param>
    public void Switch(
        Action<T> accepted, Action<Decline> declined, Action<Rejection> rejected, Action<Uncertainty> unknown)
    {
        ArgumentNullException.ThrowIfNull(accepted);
        ArgumentNullException.ThrowIfNull(declined);
        ArgumentNullException.ThrowIfNull(rejected);
        ArgumentNullException.ThrowIfNull(unknown);
        (Accepted is not null ? () => accepted(Accepted)
            : Declined is not null ? () => declined(Declined)
            : Rejected is not null ? () => rejected(Rejected)
            : (Action)(() => unknown(Unknown!)))();
    }
}

/// <summary>Creates outcomes, for tests, and reads those of requests that are never declined.</summary>
public static class Outcome
{
    /// <summary>An outcome of a request that was carried out.</summary>
    /// <param name="id">The id of the request.</param>
    /// <param name="answer">The answer to it.</param>
    public static Outcome<T> Accepted<T>(Guid id, T answer)
        where T : Answer => new(id, accepted: NotNull(answer));

    /// <summary>An outcome of a payment or hold that was declined.</summary>
    /// <param name="id">The id of the request.</param>
    /// <param name="decline">Why.</param>
    public static Outcome<T> Declined<T>(Guid id, Decline decline)
        where T : Answer => new(id, declined: NotNull(decline));

    /// <summary>An outcome of a request that was rejected.</summary>
    /// <param name="id">The id of the request.</param>
    /// <param name="rejection">Why.</param>
    public static Outcome<T> Rejected<T>(Guid id, Rejection rejection)
        where T : Answer => new(id, rejected: NotNull(rejection));

    /// <summary>An outcome that is not known.</summary>
    /// <param name="id">The id of the request.</param>
    /// <param name="uncertainty">Why.</param>
    public static Outcome<T> Unknown<T>(Guid id, Uncertainty uncertainty)
        where T : Answer => new(id, unknown: NotNull(uncertainty));

    /// <summary>Returns what the function for the case makes of it.</summary>
    /// <param name="outcome">The outcome of a request that is never declined.</param>
    /// <param name="accepted">For <see cref="Outcome{T}.Accepted"/>.</param>
    /// <param name="rejected">For <see cref="Outcome{T}.Rejected"/>.</param>
    /// <param name="unknown">For <see cref="Outcome{T}.Unknown"/>.</param>
    public static TResult Match<T, TResult>(
        this Outcome<T> outcome, Func<T, TResult> accepted,
        Func<Rejection, TResult> rejected, Func<Uncertainty, TResult> unknown)
        where T : Answer, INeverDeclined => NotNull(outcome).Match(accepted, Never<TResult>, rejected, unknown);

    /// <summary>Calls the action for the case.</summary>
    /// <param name="outcome">The outcome of a request that is never declined.</param>
    /// <param name="accepted">For <see cref="Outcome{T}.Accepted"/>.</param>
    /// <param name="rejected">For <see cref="Outcome{T}.Rejected"/>.</param>
    /// <param name="unknown">For <see cref="Outcome{T}.Unknown"/>.</param>
    public static void Switch<T>(
        this Outcome<T> outcome, Action<T> accepted, Action<Rejection> rejected, Action<Uncertainty> unknown)
        where T : Answer, INeverDeclined =>
            NotNull(outcome).Switch(accepted, declined => Never<bool>(declined), rejected, unknown);

    private static TResult Never<TResult>(Decline decline) =>
        throw new InvalidOperationException($"It is never declined, and was: {decline}");

    private static T NotNull<T>([NotNull] T? value)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(value);
        return value;
    }
}

/// <summary>The cases of an <see cref="Outcome{T}"/>.</summary>
public enum OutcomeStatus
{
    /// <summary>Carried out or not: see <see cref="Outcome{T}.Unknown"/>.</summary>
    Unknown,

    /// <summary>Carried out: see <see cref="Outcome{T}.Accepted"/>.</summary>
    Accepted,

    /// <summary>Not charged or put on hold: see <see cref="Outcome{T}.Declined"/>.</summary>
    Declined,

    /// <summary>Not carried out: see <see cref="Outcome{T}.Rejected"/>.</summary>
    Rejected,
}

/// <summary>What the platform answers and records; a retry gets the same.</summary>
public abstract record Answer
{
    private protected Answer()
    {
    }

    /// <summary>The account's balance after it.</summary>
    public required Amount Balance { get; init; }

    /// <summary>What is on hold on the account after it.</summary>
    public Amount OnHold { get; init; } = Amount.Of(null);

    /// <summary>The time of the decision.</summary>
    public DateTimeOffset DecidedAt { get; init; }

    /// <summary>The version of the account that records it; pass it to <see cref="BillingClient.GetBalanceAsync"/> to
    /// read a balance that includes it.</summary>
    public required long Version { get; init; }

    /// <summary>Whether it had been recorded before this call: by an earlier one, or by an earlier attempt
    /// whose answer was lost.</summary>
    public bool IsReplay { get; init; }
}

/// <summary>Marks the answers to requests that are never declined, but only carried out or rejected.</summary>
public interface INeverDeclined;

/// <summary>Why nothing was charged or put on hold: the account's limit, currency or status.</summary>
public sealed record Decline : Answer
{
    /// <summary>The reason.</summary>
    public required DeclineReason Reason { get; init; }

    /// <summary>The reason as text.</summary>
    public required string Message { get; init; }
}

/// <summary>Why a payment or hold is declined. A newer platform may have further reasons.</summary>
public enum DeclineReason
{
    /// <summary>Another reason; see the message.</summary>
    Other,

    /// <summary>It is more than the account may still spend.</summary>
    CreditLimitExceeded,

    /// <summary>The account is kept in another currency.</summary>
    CurrencyMismatch,

    /// <summary>The account is frozen.</summary>
    AccountFrozen,

    /// <summary>The account is closed.</summary>
    AccountClosed,
}

/// <summary>Why a request was refused: it is invalid, or the caller has no permission.</summary>
public sealed record Rejection
{
    /// <summary>The reason.</summary>
    public required RejectionReason Reason { get; init; }

    /// <summary>The invalid field as billing.proto names it, e.g. <c>amount.units</c>;
    /// empty if there is none.</summary>
    public string Field { get; init; } = "";

    /// <summary>The reason as text.</summary>
    public required string Message { get; init; }
}

/// <summary>Why it is not known what has become of a request.</summary>
public sealed record Uncertainty
{
    /// <summary>The platform's reason code for the last failure, one of <see cref="Contracts.ErrorReasons"/>;
    /// empty if the failure is not the platform's: a connection, a certificate, a deadline.</summary>
    public string Reason { get; init; } = "";

    /// <summary>The last failure of an attempt as text; never empty.</summary>
    public required string Message { get; init; }

    /// <summary>How long the platform asks to wait before a retry; null if it does not.</summary>
    public TimeSpan? RetryAfter { get; init; }
}
