using System.Reflection;
using Billing.Client;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;

namespace Billing.UnitTests.Client;

/// <summary>The outcome of each reason of the contract, of a call and of a payment on a stream alike:
/// unknown if sending the same payment again may have another outcome, and otherwise a rejection.</summary>
public sealed class ReasonTests
{
    private static readonly Payment Five = new(new CardAccount(CardNetwork.Visa, "a"), new Amount(5, "USD"));

    // The status of each reason, and what the only sending of a payment is told; null for unknown.
    private static readonly Dictionary<string, (StatusCode Status, RejectionReason? Rejection)> Reasons = new()
    {
        [ErrorReasons.InvalidField] = (StatusCode.InvalidArgument, RejectionReason.InvalidField),
        [ErrorReasons.RequestTooLarge] = (StatusCode.InvalidArgument, RejectionReason.InvalidField),
        [ErrorReasons.MalformedMessage] = (StatusCode.InvalidArgument, RejectionReason.InvalidField),
        [ErrorReasons.HostNotAllowed] = (StatusCode.InvalidArgument, RejectionReason.InvalidField),
        [ErrorReasons.MalformedBody] = (StatusCode.InvalidArgument, RejectionReason.InvalidField),
        [ErrorReasons.TransactionIdReused] = (StatusCode.AlreadyExists, RejectionReason.IdReused),
        [ErrorReasons.CurrencyMismatch] = (StatusCode.FailedPrecondition, RejectionReason.CurrencyMismatch),
        [ErrorReasons.PaymentNotFound] = (StatusCode.NotFound, RejectionReason.PaymentNotFound),
        [ErrorReasons.TransactionNotFound] = (StatusCode.NotFound, RejectionReason.Other),
        [ErrorReasons.PaymentDeclined] = (StatusCode.FailedPrecondition, RejectionReason.PaymentDeclined),
        [ErrorReasons.AmountTooLarge] = (StatusCode.FailedPrecondition, RejectionReason.AmountTooLarge),
        [ErrorReasons.NotOnHold] = (StatusCode.FailedPrecondition, RejectionReason.NotOnHold),
        [ErrorReasons.AccountNotEmpty] = (StatusCode.FailedPrecondition, RejectionReason.AccountNotEmpty),
        [ErrorReasons.VersionNotReached] = (StatusCode.OutOfRange, RejectionReason.VersionNotReached),
        [ErrorReasons.TokenMissing] = (StatusCode.Unauthenticated, RejectionReason.NotAuthenticated),
        [ErrorReasons.TokenExpired] = (StatusCode.Unauthenticated, RejectionReason.NotAuthenticated),
        [ErrorReasons.CertificateExpired] = (StatusCode.Unauthenticated, RejectionReason.NotAuthenticated),
        [ErrorReasons.TokenInvalid] = (StatusCode.Unauthenticated, RejectionReason.NotAuthenticated),
        [ErrorReasons.CertificateInvalid] = (StatusCode.Unauthenticated, RejectionReason.NotAuthenticated),
        [ErrorReasons.KeysUnavailable] = (StatusCode.Unavailable, null),
        [ErrorReasons.ScopeMissing] = (StatusCode.PermissionDenied, RejectionReason.NotAllowed),
        [ErrorReasons.AccountNotAllowed] = (StatusCode.PermissionDenied, RejectionReason.NotAllowed),
        [ErrorReasons.NotServedHere] = (StatusCode.Unimplemented, RejectionReason.Other),
        [ErrorReasons.CallerLimitReached] = (StatusCode.ResourceExhausted, null),
        [ErrorReasons.TooManyInFlight] = (StatusCode.ResourceExhausted, null),
        [ErrorReasons.NoAnswerInTime] = (StatusCode.DeadlineExceeded, null),
        [ErrorReasons.CommandExpired] = (StatusCode.DeadlineExceeded, null),
        [ErrorReasons.ShuttingDown] = (StatusCode.Unavailable, null),
        [ErrorReasons.StreamIdle] = (StatusCode.Unavailable, null),
        [ErrorReasons.StreamTooOld] = (StatusCode.Unavailable, null),
        [ErrorReasons.BrokerUnavailable] = (StatusCode.Unavailable, null),
        [ErrorReasons.BackendUnavailable] = (StatusCode.Unavailable, null),
        [ErrorReasons.EventStoreUnavailable] = (StatusCode.Unavailable, null),
        [ErrorReasons.Unforeseen] = (StatusCode.Internal, null),
        // The operators may have it processed after all, and then the same payment shows it.
        [ErrorReasons.ProcessingFailed] = (StatusCode.Internal, null),
    };

    public static TheoryData<string> All => [.. typeof(ErrorReasons)
        .GetFields(BindingFlags.Public | BindingFlags.Static)
        .Where(constant => constant.IsLiteral).Select(constant => (string)constant.GetRawConstantValue()!)];

    [Theory]
    [MemberData(nameof(All))]
    public void The_only_sending_is_rejected_or_worth_another(string reason)
    {
        var (status, rejection) = Reasons[reason];

        Assert.Equal(rejection, RejectionOf(OfCall(status, reason, isFirstTry: true)));
        Assert.Equal(rejection, RejectionOf(OfStream(status, reason, isFirstTry: true)));
    }

    /// <summary>An earlier sending may have been recorded, or be on its way: only what the request itself causes,
    /// or what is recorded for good, is certain.</summary>
    [Theory]
    [MemberData(nameof(All))]
    public void What_is_refused_because_of_its_caller_or_for_the_time_being_after_another_sending_is_unknown(
        string reason)
    {
        var (status, rejection) = Reasons[reason];
        var isUncertain = status is StatusCode.Unauthenticated or StatusCode.PermissionDenied
            or StatusCode.Unimplemented or StatusCode.NotFound
            || reason is ErrorReasons.AmountTooLarge or ErrorReasons.AccountNotEmpty or ErrorReasons.HostNotAllowed;
        RejectionReason? expected = isUncertain ? null : rejection;

        Assert.Equal(expected, RejectionOf(OfCall(status, reason, isFirstTry: false)));
        Assert.Equal(expected, RejectionOf(OfStream(status, reason, isFirstTry: false)));
    }

    /// <summary>The message of such a failure may quote the request.</summary>
    [Theory]
    [MemberData(nameof(All))]
    public async Task What_a_request_is_refused_for_is_not_in_the_log_whatever_attempt_it_was(string reason)
    {
        var (status, rejection) = Reasons[reason];
        var log = new FakeLogCollector();
        await using var proxy = await ScriptedProxy.StartAsync(
            ScriptedProxy.Failure(StatusCode.Unavailable), ScriptedProxy.Failure(status, reason));
        using var client = new BillingClient(new BillingClientOptions
        {
            Proxies = { proxy.Address },
            RetryDelay = TimeSpan.FromMilliseconds(1),
            LoggerFactory = LoggerFactory.Create(logging => logging.AddProvider(new FakeLoggerProvider(log))),
        });

        await client.PayAsync(Five);
        var told = log.GetSnapshot().Select(line => line.Message)
            .Where(line => line.Contains(reason, StringComparison.Ordinal));

        Assert.Equal(rejection is null, told.Any(line => line.Contains("scripted failure", StringComparison.Ordinal)));
    }

    private static Outcome<PaymentAnswer> OfCall(StatusCode status, string reason, bool isFirstTry)
    {
        var failure = ScriptedProxy.Failure(status, reason);
        return Outcomes.Of<PaymentAnswer>(Five.Id, ProxyFailure.After(isFirstTry ? 1 : 2, failure));
    }

    private static Outcome<PaymentAnswer> OfStream(StatusCode status, string reason, bool isFirstTry) => Outcomes.Of(
        Five.Id,
        new MakePaymentsResponse { Error = new PaymentError { StatusCode = (int)status, Reason = reason } },
        isFirstTry);

    private static RejectionReason? RejectionOf(Outcome<PaymentAnswer> outcome)
    {
        if (outcome.Rejected is { } rejected)
        {
            return rejected.Reason;
        }
        Expect.Unknown(outcome);
        return null;
    }
}
