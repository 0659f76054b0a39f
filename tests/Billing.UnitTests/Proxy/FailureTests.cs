using Billing.Contracts;
using Billing.Proxy;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy;

public sealed class FailureTests
{
    [Fact]
    public void A_failure_carries_its_status_its_words_and_its_reason()
    {
        var e = Failure.Create(StatusCode.Unavailable, ErrorReasons.ShuttingDown, "Going down.");
        Assert.Equal(StatusCode.Unavailable, e.StatusCode);
        Assert.Equal("Going down.", e.Status.Detail);
        Assert.Equal("SHUTTING_DOWN", e.Trailers.GetValue("billing-reason"));
        Assert.Null(e.Trailers.GetValue("grpc-retry-pushback-ms"));
    }

    [Fact]
    public void A_wait_is_given_in_whole_milliseconds()
    {
        var e = Failure.Create(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight, "Full.", TimeSpan.FromSeconds(1.5));
        Assert.Equal("1500", e.Trailers.GetValue("grpc-retry-pushback-ms"));
    }

    [Fact]
    public void A_bad_field_is_named_in_words_and_in_a_trailer()
    {
        var e = Failure.BadField(new FieldViolation("amount.nanos", "must be smaller"));
        Assert.Equal(StatusCode.InvalidArgument, e.StatusCode);
        Assert.Equal("amount.nanos must be smaller", e.Status.Detail);
        Assert.Equal("INVALID_FIELD", e.Trailers.GetValue("billing-reason"));
        Assert.Equal("amount.nanos", e.Trailers.GetValue("billing-field"));
    }

    [Fact]
    public void What_a_backend_answered_reaches_the_caller_unchanged()
    {
        var e = Failure.From(new Error
        {
            StatusCode = (int)StatusCode.AlreadyExists,
            Reason = ErrorReasons.TransactionIdReused,
            Message = "used before",
            Field = "transaction_id",
        });
        Assert.Equal(new Status(StatusCode.AlreadyExists, "used before"), e.Status);
        Assert.Equal("TRANSACTION_ID_REUSED", e.Trailers.GetValue("billing-reason"));
        Assert.Equal("transaction_id", e.Trailers.GetValue("billing-field"));
    }

    [Fact]
    public void Without_a_field_at_fault_there_is_no_field_trailer() =>
        Assert.Null(Failure.From(new Error { StatusCode = 14, Reason = "X" }).Trailers.GetValue("billing-field"));
}
