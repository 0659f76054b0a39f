namespace Billing.Client;

/// <summary>Why a request is not taken.</summary>
public enum RejectionReason
{
    /// <summary>None of the others; the message says what.</summary>
    Other,

    /// <summary>A field is missing or out of its range.</summary>
    InvalidField,

    /// <summary>The id was used before, for something else.</summary>
    IdReused,

    /// <summary>The account is kept in another currency than the new limit's.</summary>
    CurrencyMismatch,

    /// <summary>The account has not reached the version that was asked for.</summary>
    VersionNotReached,

    /// <summary>The caller did not say who it is, or not so that it is believed: a token is missing, expired or wrong.</summary>
    NotAuthenticated,

    /// <summary>The caller may not do this, or not with this account.</summary>
    NotAllowed,
}
