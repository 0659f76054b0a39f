using Billing.Contracts;
using Billing.Driver;
using Billing.UnitTests.Client;
using Grpc.Core;

namespace Billing.UnitTests.Driver;

public sealed class PaymentFailureTests
{
    [Theory]
    [InlineData(StatusCode.InvalidArgument, ErrorReasons.InvalidField)]
    [InlineData(StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused)]
    [InlineData(StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired)]
    [InlineData(StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed)]
    public void A_failure_that_says_that_nothing_was_charged_is_final(StatusCode status, string reason) =>
        Assert.True(PaymentFailure.IsFinal(ScriptedProxy.Failure(status, reason), wasRetried: false));

    [Theory]
    [InlineData(StatusCode.DeadlineExceeded, ErrorReasons.NoAnswerInTime)]
    [InlineData(StatusCode.DeadlineExceeded, "")]
    [InlineData(StatusCode.Unavailable, ErrorReasons.BrokerUnavailable)]
    [InlineData(StatusCode.Internal, ErrorReasons.ProcessingFailed)]
    [InlineData(StatusCode.Cancelled, "")]
    public void A_failure_that_does_not_say_so_leaves_the_outcome_unknown(StatusCode status, string reason) =>
        Assert.False(PaymentFailure.IsFinal(ScriptedProxy.Failure(status, reason), wasRetried: false));

    [Theory]
    [InlineData(StatusCode.InvalidArgument, ErrorReasons.InvalidField, true)]
    [InlineData(StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused, true)]
    [InlineData(StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired, false)]
    [InlineData(StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed, false)]
    public void After_a_retry_the_earlier_attempt_may_be_recorded(StatusCode status, string reason, bool isFinal) =>
        Assert.Equal(isFinal, PaymentFailure.IsFinal(ScriptedProxy.Failure(status, reason), wasRetried: true));
}
