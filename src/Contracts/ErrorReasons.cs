namespace Billing.Contracts;

/// <summary>The reasons of errors: of google.rpc.ErrorInfo in the domain <see cref="ErrorDetails.Domain"/>, of
/// PaymentError on a stream, of problem documents over REST, and of Error in the wire contract. Programs may act on
/// them; they are never renamed.</summary>
public static class ErrorReasons
{
    /// <summary>INVALID_ARGUMENT: a field of the request is missing or out of range; google.rpc.BadRequest names it.
    /// </summary>
    public const string InvalidField = "INVALID_FIELD";

    /// <summary>INVALID_ARGUMENT: the request is larger than the proxy accepts.</summary>
    public const string RequestTooLarge = "REQUEST_TOO_LARGE";

    /// <summary>INVALID_ARGUMENT, over gRPC: the bytes of the request cannot be parsed as the
    /// method's request message.</summary>
    public const string MalformedMessage = "MALFORMED_MESSAGE";

    /// <summary>INTERNAL: an unexpected failure of the proxy; its log has the details. A payment may or may not be
    /// recorded; retry with the same transaction id.</summary>
    public const string Unforeseen = "UNFORESEEN";

    /// <summary>INVALID_ARGUMENT, over REST: the body is not the expected JSON.</summary>
    public const string MalformedBody = "MALFORMED_BODY";

    /// <summary>ALREADY_EXISTS: the transaction id was used before with other content, or for a payment whose status
    /// was answered as FAILED. Nothing was charged; use another id.</summary>
    public const string TransactionIdReused = "TRANSACTION_ID_REUSED";

    /// <summary>FAILED_PRECONDITION: the account's currency differs from the new limit's, or the payment's from the
    /// refund's or the capture's.</summary>
    public const string CurrencyMismatch = "CURRENCY_MISMATCH";

    /// <summary>NOT_FOUND: the account has no payment under that transaction id.</summary>
    public const string PaymentNotFound = "PAYMENT_NOT_FOUND";

    /// <summary>NOT_FOUND: the account has no record of a request under that transaction id.</summary>
    public const string TransactionNotFound = "TRANSACTION_NOT_FOUND";

    /// <summary>FAILED_PRECONDITION: nothing of the payment is on hold: it was never authorised, is captured whole or
    /// voided, or has expired.</summary>
    public const string NotOnHold = "NOT_ON_HOLD";

    /// <summary>FAILED_PRECONDITION: the payment was declined, so that there is nothing to give
    /// back or to capture.</summary>
    public const string PaymentDeclined = "PAYMENT_DECLINED";

    /// <summary>FAILED_PRECONDITION: the account cannot be closed, since it owes something or
    /// something is on hold.</summary>
    public const string AccountNotEmpty = "ACCOUNT_NOT_EMPTY";

    /// <summary>FAILED_PRECONDITION: the amount is more than is left of the payment, or on hold of it.</summary>
    public const string AmountTooLarge = "AMOUNT_TOO_LARGE";

    /// <summary>OUT_OF_RANGE: the account's stream has not reached the requested version.</summary>
    public const string VersionNotReached = "VERSION_NOT_REACHED";

    /// <summary>UNAUTHENTICATED: the call needs a token or a client certificate and has none.</summary>
    public const string TokenMissing = "TOKEN_MISSING";

    /// <summary>UNAUTHENTICATED: the token has expired, or its stream ends because the token's key was removed; get
    /// another token.</summary>
    public const string TokenExpired = "TOKEN_EXPIRED";

    /// <summary>UNAUTHENTICATED: the client certificate of the connection has expired; open another connection with
    /// a new one.</summary>
    public const string CertificateExpired = "CERTIFICATE_EXPIRED";

    /// <summary>UNAUTHENTICATED: the proxy does not trust the token.</summary>
    public const string TokenInvalid = "TOKEN_INVALID";

    /// <summary>UNAUTHENTICATED: the client certificate names no caller: its subject does not have exactly one common
    /// name, or another authority than the one for that name has signed it.</summary>
    public const string CertificateInvalid = "CERTIFICATE_INVALID";

    /// <summary>UNAVAILABLE: the proxy does not know the key of the token, and cannot ask the issuer of tokens for it
    /// at present; retry.</summary>
    public const string KeysUnavailable = "KEYS_UNAVAILABLE";

    /// <summary>PERMISSION_DENIED: the caller's token lacks the scope that the call needs.</summary>
    public const string ScopeMissing = "SCOPE_MISSING";

    /// <summary>PERMISSION_DENIED: the caller's token does not name the account.</summary>
    public const string AccountNotAllowed = "ACCOUNT_NOT_ALLOWED";

    /// <summary>UNIMPLEMENTED: the method is for operators and is served only at the proxy's admin address.</summary>
    public const string NotServedHere = "NOT_SERVED_HERE";

    /// <summary>INVALID_ARGUMENT: the request is for a host name to which the proxy does not answer;
    /// its operator lists the names in the setting <c>AllowedHosts</c>.</summary>
    public const string HostNotAllowed = "HOST_NOT_ALLOWED";

    /// <summary>RESOURCE_EXHAUSTED: the caller makes more calls per second, or has more calls in flight,
    /// than one caller may.</summary>
    public const string CallerLimitReached = "CALLER_LIMIT_REACHED";

    /// <summary>RESOURCE_EXHAUSTED: the proxy has as many calls in flight as it may have.</summary>
    public const string TooManyInFlight = "TOO_MANY_IN_FLIGHT";

    /// <summary>DEADLINE_EXCEEDED: no answer came in time. A payment may or may not be recorded; retry with the same
    /// transaction id.</summary>
    public const string NoAnswerInTime = "NO_ANSWER_IN_TIME";

    /// <summary>DEADLINE_EXCEEDED: the command expired before it was recorded; it charged nothing.</summary>
    public const string CommandExpired = "COMMAND_EXPIRED";

    /// <summary>UNAVAILABLE: the proxy is shutting down; send the call to another one.</summary>
    public const string ShuttingDown = "SHUTTING_DOWN";

    /// <summary>UNAVAILABLE: the proxy ended a stream that was idle for too long; open another one.</summary>
    public const string StreamIdle = "STREAM_IDLE";

    /// <summary>UNAVAILABLE: the proxy ended a stream because its connection was open for too long; open another one.
    /// </summary>
    public const string StreamTooOld = "STREAM_TOO_OLD";

    /// <summary>UNAVAILABLE: the command could not be published.</summary>
    public const string BrokerUnavailable = "BROKER_UNAVAILABLE";

    /// <summary>UNAVAILABLE: the backend that serves the account does not answer or is not ready.
    /// A payment may or may not be recorded; retry with the same transaction id.</summary>
    public const string BackendUnavailable = "BACKEND_UNAVAILABLE";

    /// <summary>UNAVAILABLE: the event store could not be reached in time. A payment may or may not be recorded; retry
    /// with the same transaction id.</summary>
    public const string EventStoreUnavailable = "EVENT_STORE_UNAVAILABLE";

    /// <summary>INTERNAL: a backend could not process the command; it was sent to the dead letters.</summary>
    public const string ProcessingFailed = "PROCESSING_FAILED";
}
