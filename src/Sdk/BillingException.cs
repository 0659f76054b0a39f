namespace Billing.Client;

/// <summary>A question that got no answer. Payments and limits do not throw it: what becomes of them is a result.</summary>
public sealed class BillingException : Exception
{
    /// <summary>A question that is not answered because of what or who asks.</summary>
    public BillingException(RejectionReason rejection, string field, string message, Exception? innerException = null)
        : base(message, innerException)
    {
        Rejection = rejection;
        Field = field;
    }

    /// <summary>A question that may be answered later, or through another proxy.</summary>
    public BillingException(string reason, string message, TimeSpan? retryAfter, Exception? innerException = null)
        : base(message, innerException)
    {
        Reason = reason;
        RetryAfter = retryAfter;
    }

    /// <summary>Why it will not be answered, however often it is asked; null where it may be.</summary>
    public RejectionReason? Rejection { get; }

    /// <summary>Whether asking again may help.</summary>
    public bool IsTransient => Rejection is null;

    /// <summary>The field at fault; empty where none is.</summary>
    public string Field { get; } = "";

    /// <summary>The platform's constant of what went wrong, one of <see cref="Contracts.ErrorReasons"/>; may be empty.</summary>
    public string Reason { get; } = "";

    /// <summary>How long the platform wants to be left alone; null where it does not say.</summary>
    public TimeSpan? RetryAfter { get; }
}
