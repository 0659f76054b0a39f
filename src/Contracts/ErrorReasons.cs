namespace Billing.Contracts;

/// <summary>The constants of the trailer <c>billing-reason</c> and of the wire contract's Error.reason: what a program
/// may act on. They are never renamed.</summary>
public static class ErrorReasons
{
    /// <summary>INVALID_ARGUMENT: a field of the request is missing or out of range; <c>billing-field</c> names it.
    /// </summary>
    public const string InvalidField = "INVALID_FIELD";

    /// <summary>INVALID_ARGUMENT: the request is larger than the proxy takes.</summary>
    public const string RequestTooLarge = "REQUEST_TOO_LARGE";

    /// <summary>INVALID_ARGUMENT, over gRPC: the bytes of the request are not a message of the method.</summary>
    public const string MalformedMessage = "MALFORMED_MESSAGE";

    /// <summary>INTERNAL: the proxy failed in a way that nobody has foreseen; its log says how. A payment may or may not be
    /// recorded; ask again with the same transaction id.</summary>
    public const string Unforeseen = "UNFORESEEN";

    /// <summary>INVALID_ARGUMENT, over REST: the body is not the JSON that is asked for.</summary>
    public const string MalformedBody = "MALFORMED_BODY";

    /// <summary>ALREADY_EXISTS: the transaction id was used before with other content.</summary>
    public const string TransactionIdReused = "TRANSACTION_ID_REUSED";

    /// <summary>FAILED_PRECONDITION: the account is kept in another currency than the new limit's.</summary>
    public const string CurrencyMismatch = "CURRENCY_MISMATCH";

    /// <summary>OUT_OF_RANGE: the account's stream has not reached the version that was asked for.</summary>
    public const string VersionNotReached = "VERSION_NOT_REACHED";

    /// <summary>UNAUTHENTICATED: the call needs a token or a client certificate and has none.</summary>
    public const string TokenMissing = "TOKEN_MISSING";

    /// <summary>UNAUTHENTICATED: the token has expired; get another.</summary>
    public const string TokenExpired = "TOKEN_EXPIRED";

    /// <summary>UNAUTHENTICATED: the token is not one that the proxy trusts.</summary>
    public const string TokenInvalid = "TOKEN_INVALID";

    /// <summary>PERMISSION_DENIED: the caller's token lacks the scope that the call needs.</summary>
    public const string ScopeMissing = "SCOPE_MISSING";

    /// <summary>PERMISSION_DENIED: the account is not one of those that the caller's token names.</summary>
    public const string AccountNotAllowed = "ACCOUNT_NOT_ALLOWED";

    /// <summary>UNIMPLEMENTED: what was asked for is for operators, and served at the proxy's admin address alone.</summary>
    public const string NotServedHere = "NOT_SERVED_HERE";

    /// <summary>RESOURCE_EXHAUSTED: the caller makes more calls per second, or has more in flight, than one may.</summary>
    public const string CallerLimitReached = "CALLER_LIMIT_REACHED";

    /// <summary>RESOURCE_EXHAUSTED: the proxy has as many calls in flight as it may have.</summary>
    public const string TooManyInFlight = "TOO_MANY_IN_FLIGHT";

    /// <summary>DEADLINE_EXCEEDED: no answer came in time. The payment may or may not be recorded; ask again with the
    /// same transaction id.</summary>
    public const string NoAnswerInTime = "NO_ANSWER_IN_TIME";

    /// <summary>DEADLINE_EXCEEDED: the command expired before it was recorded; nothing was charged by it.</summary>
    public const string CommandExpired = "COMMAND_EXPIRED";

    /// <summary>UNAVAILABLE: the proxy is shutting down; another one will take the call.</summary>
    public const string ShuttingDown = "SHUTTING_DOWN";

    /// <summary>UNAVAILABLE: the proxy ended a stream on which nothing happened for long; open another one.</summary>
    public const string StreamIdle = "STREAM_IDLE";

    /// <summary>UNAVAILABLE: the command could not be published.</summary>
    public const string BrokerUnavailable = "BROKER_UNAVAILABLE";

    /// <summary>UNAVAILABLE: the backend that serves the account does not answer, or is not ready. A payment may or may not be
    /// recorded; ask again with the same transaction id.</summary>
    public const string BackendUnavailable = "BACKEND_UNAVAILABLE";

    /// <summary>UNAVAILABLE: the event store could not be reached in time. A payment may or may not be recorded; ask again
    /// with the same transaction id.</summary>
    public const string EventStoreUnavailable = "EVENT_STORE_UNAVAILABLE";

    /// <summary>INTERNAL: a backend could not process the command; it is in the dead letters.</summary>
    public const string ProcessingFailed = "PROCESSING_FAILED";
}
