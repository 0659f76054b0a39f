namespace Billing.Client;

/// <summary>Why a request is rejected.</summary>
public enum RejectionReason
{
    /// <summary>Another reason; see the message.</summary>
    Other,

    /// <summary>A field is missing or invalid.</summary>
    InvalidField,

    /// <summary>The id was already used for a different request.</summary>
    IdReused,

    /// <summary>The account's currency differs from that of the new limit.</summary>
    CurrencyMismatch,

    /// <summary>The account has not reached the requested version.</summary>
    VersionNotReached,

    /// <summary>The caller is not authenticated: its token is missing, expired or invalid.</summary>
    NotAuthenticated,

    /// <summary>The caller has no permission for this operation or this account.</summary>
    NotAllowed,
}
