using Billing.Client;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Wire.V1;
using Google.Rpc;
using Grpc.Core;
using Status = Grpc.Core.Status;

namespace Billing.UnitTests.Proxy;

public sealed class FailureTests
{
    [Fact]
    public void A_failure_carries_its_status_its_message_and_its_reason()
    {
        var e = new Failure(StatusCode.Unavailable, ErrorReasons.ShuttingDown, "Going down.").ToRpcException();
        Assert.Equal(StatusCode.Unavailable, e.StatusCode);
        Assert.Equal("Going down.", e.Status.Detail);
        Assert.Equal("SHUTTING_DOWN", e.Trailers.GetValue("billing-reason"));
        Assert.Null(e.Trailers.GetValue("grpc-retry-pushback-ms"));
    }

    [Theory]
    [InlineData("")]
    [InlineData("two words")]
    [InlineData("line\nend")]
    [InlineData("\u00e9")]
    public void A_reason_and_a_field_of_a_backend_that_cannot_be_headers_are_left_out(string text)
    {
        var failure = Failure.From(new Error { StatusCode = 3, Reason = text, Field = text, Message = text });

        Assert.Equal(new Failure(StatusCode.InvalidArgument, ErrorReasons.ProcessingFailed, text), failure);
    }

    [Fact]
    public void The_retry_delay_is_given_in_whole_milliseconds()
    {
        var e = new Failure(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight, "Full.") { RetryAfter = TimeSpan.FromSeconds(1.5) }.ToRpcException();
        Assert.Equal("1500", e.Trailers.GetValue("grpc-retry-pushback-ms"));
    }

    [Fact]
    public void An_invalid_field_is_named_in_the_message_and_in_a_trailer()
    {
        var e = Failure.BadField(new FieldViolation("amount.nanos", "must be smaller")).ToRpcException();
        Assert.Equal(StatusCode.InvalidArgument, e.StatusCode);
        Assert.Equal("amount.nanos must be smaller", e.Status.Detail);
        Assert.Equal("INVALID_FIELD", e.Trailers.GetValue("billing-reason"));
        Assert.Equal("amount.nanos", e.Trailers.GetValue("billing-field"));
    }

    [Fact]
    public void What_programs_need_is_in_the_details_of_google_rpc_Status()
    {
        var full = new Failure(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight, "Full.") { RetryAfter = TimeSpan.FromSeconds(1.5) }.ToRpcException().GetRpcStatus()!;
        var invalid = Failure.BadField(new FieldViolation("amount.nanos", "must be smaller")).ToRpcException().GetRpcStatus()!;

        Assert.Equal(((int)StatusCode.ResourceExhausted, "Full."), (full.Code, full.Message));
        Assert.Equal(("billing.internal", "TOO_MANY_IN_FLIGHT"), (full.GetDetail<ErrorInfo>()!.Domain, full.GetDetail<ErrorInfo>()!.Reason));
        Assert.Equal(TimeSpan.FromSeconds(1.5), full.GetDetail<RetryInfo>()!.RetryDelay.ToTimeSpan());
        Assert.Null(full.GetDetail<BadRequest>());
        Assert.Equal("amount.nanos", Assert.Single(invalid.GetDetail<BadRequest>()!.FieldViolations).Field);
        Assert.Null(invalid.GetDetail<RetryInfo>());
    }

    [Fact]
    public void A_client_reads_the_same_from_the_details_and_from_the_trailers_of_the_version_before()
    {
        var now = new Failure(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight, "Full.") { RetryAfter = TimeSpan.FromSeconds(1.5) }.ToRpcException();
        var (details, trailers) = (new Metadata(), new Metadata());
        foreach (var trailer in now.Trailers)
        {
            (trailer.IsBinary ? details : trailers).Add(trailer);
        }

        Assert.Single(details);
        Assert.All([details, trailers], metadata =>
        {
            var failure = new RpcException(now.Status, metadata);
            Assert.Equal(ErrorReasons.TooManyInFlight, ProxyFailure.Reason(failure));
            Assert.Equal(TimeSpan.FromSeconds(1.5), ProxyFailure.RetryAfter(failure));
            Assert.Equal("", ProxyFailure.Field(failure));
        });
    }

    [Fact]
    public void A_backends_error_reaches_the_caller_unchanged()
    {
        var e = Failure.From(new Error
        {
            StatusCode = (int)StatusCode.AlreadyExists,
            Reason = ErrorReasons.TransactionIdReused,
            Message = "used before",
            Field = "transaction_id",
        }).ToRpcException();
        Assert.Equal(new Status(StatusCode.AlreadyExists, "used before"), e.Status);
        Assert.Equal("TRANSACTION_ID_REUSED", e.Trailers.GetValue("billing-reason"));
        Assert.Equal("transaction_id", e.Trailers.GetValue("billing-field"));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(17)]
    [InlineData(int.MaxValue)]
    public void An_error_with_a_status_that_is_no_error_becomes_INTERNAL(int statusCode)
    {
        var e = Failure.From(new Error { StatusCode = statusCode, Reason = "X", Message = "the message" }).ToRpcException();
        Assert.Equal(new Status(StatusCode.Internal, "the message"), e.Status);
        Assert.Equal("X", e.Trailers.GetValue("billing-reason"));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(16)]
    public void Every_status_that_is_an_error_is_kept(int statusCode) =>
        Assert.Equal((StatusCode)statusCode, Failure.From(new Error { StatusCode = statusCode }).ToRpcException().StatusCode);

    [Fact]
    public void On_a_stream_a_failure_carries_the_same_details_in_a_message()
    {
        var error = Failure.BadField(new FieldViolation("amount.nanos", "must be smaller")).ToPaymentError();
        Assert.Equal(
            new V1.PaymentError
            {
                StatusCode = 3,
                Reason = "INVALID_FIELD",
                Message = "amount.nanos must be smaller",
                Field = "amount.nanos",
            },
            error);
    }

    [Fact]
    public void Without_an_invalid_field_there_is_no_field_trailer() =>
        Assert.Null(Failure.From(new Error { StatusCode = 14, Reason = "X" }).ToRpcException().Trailers.GetValue("billing-field"));
}
