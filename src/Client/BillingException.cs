namespace Billing.Client;

/// <summary>The failure of a query or of a stream of payments. Requests that change something do not throw it:
/// their failures are outcomes.</summary>
public sealed class BillingException : Exception
{
    /// <summary>Creates the failure of an invalid request, or of a caller without permission.</summary>
    public BillingException(
        RejectionReason rejectionReason, string reason, string field, string message, Exception? innerException = null)
        : base(message, innerException)
    {
        RejectionReason = rejectionReason;
        Reason = reason;
        Field = field;
    }

    /// <summary>Creates a failure that a retry, later or through another proxy, may avoid.</summary>
    public BillingException(string reason, string message, TimeSpan? retryAfter, Exception? innerException = null)
        : base(message, innerException)
    {
        Reason = reason;
        RetryAfter = retryAfter;
    }

    /// <summary>Why every retry would fail too; null if a retry may succeed.</summary>
    public RejectionReason? RejectionReason { get; }

    /// <summary>Whether a retry may succeed.</summary>
    public bool IsTransient => RejectionReason is null;

    /// <summary>The invalid field; empty if there is none.</summary>
    public string Field { get; } = "";

    /// <summary>The platform's reason code, one of <see cref="Contracts.ErrorReasons"/>; may be empty.</summary>
    public string Reason { get; } = "";

    /// <summary>The platform's requested delay before a retry; null if it sent none.</summary>
    public TimeSpan? RetryAfter { get; }
}

/// <summary>Why a request is rejected.</summary>
public enum RejectionReason
{
    /// <summary>Another reason; see the message.</summary>
    Other,

    /// <summary>A field is missing or invalid.</summary>
    InvalidField,

    /// <summary>The id was already used for a different request.</summary>
    IdReused,

    /// <summary>The account's currency differs from that of the new limit, or the payment's from that of the
    /// refund or capture.</summary>
    CurrencyMismatch,

    /// <summary>The account has not reached the requested version.</summary>
    VersionNotReached,

    /// <summary>The caller is not authenticated: its token is missing, expired or invalid.</summary>
    NotAuthenticated,

    /// <summary>The caller has no permission for this operation or this account.</summary>
    NotAllowed,

    /// <summary>The account has no such payment. If the payment's outcome is unknown, it may still be
    /// recorded.</summary>
    PaymentNotFound,

    /// <summary>The payment was declined, so that there is nothing to give back, to capture or to void.</summary>
    PaymentDeclined,

    /// <summary>The amount is more than is left of the payment, or on hold of it.</summary>
    AmountTooLarge,

    /// <summary>Nothing of the payment is on hold: it was not authorised, is captured whole or
    /// voided, or has expired.</summary>
    NotOnHold,

    /// <summary>The account cannot be closed: it owes something, or something is on hold.</summary>
    AccountNotEmpty,
}
