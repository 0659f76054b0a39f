using Billing.Client;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Wire.V1;
using Google.Rpc;
using Grpc.Core;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Status = Grpc.Core.Status;

namespace Billing.UnitTests.Proxy;

public sealed class FailureTests
{
    private static readonly Failure Full = new(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight, "Full.")
    {
        RetryAfter = TimeSpan.FromSeconds(1.5),
    };

    [Fact]
    public void A_failure_carries_its_status_its_message_and_its_reason()
    {
        var e = new Failure(StatusCode.Unavailable, ErrorReasons.ShuttingDown, "Going down.").ToRpcException();
        Assert.Equal(StatusCode.Unavailable, e.StatusCode);
        Assert.Equal("Going down.", e.Status.Detail);
        Assert.Equal("SHUTTING_DOWN", e.Reason());
        Assert.Null(e.Trailers.GetValue("grpc-retry-pushback-ms"));
    }

    [Theory]
    [InlineData("")]
    [InlineData("two words")]
    [InlineData("line\nend")]
    [InlineData("\u00e9")]
    public void A_reason_and_a_field_of_a_backend_that_are_no_words_are_left_out(string text)
    {
        var failure = Failure.From(new Error { StatusCode = 3, Reason = text, Field = text, Message = text });

        Assert.Equal(new Failure(StatusCode.InvalidArgument, ErrorReasons.ProcessingFailed, text), failure);
    }

    [Fact]
    public void The_retry_delay_is_given_in_whole_milliseconds()
    {
        var e = Full.ToRpcException();
        Assert.Equal("1500", e.Trailers.GetValue("grpc-retry-pushback-ms"));
    }

    [Fact]
    public void An_invalid_field_is_named_in_the_message_and_in_the_details()
    {
        var e = Failure.BadField(new FieldViolation("amount.nanos", "must be smaller")).ToRpcException();
        Assert.Equal(StatusCode.InvalidArgument, e.StatusCode);
        Assert.Equal("amount.nanos must be smaller", e.Status.Detail);
        Assert.Equal(("INVALID_FIELD", "amount.nanos"), (e.Reason(), e.Field()));
    }

    [Fact]
    public void What_programs_need_is_in_the_details_of_google_rpc_Status()
    {
        var full = Full.ToRpcException().GetRpcStatus()!;
        var invalid = Failure.BadField(new FieldViolation("amount.nanos", "must be smaller")).ToRpcException()
            .GetRpcStatus()!;

        Assert.Equal(((int)StatusCode.ResourceExhausted, "Full."), (full.Code, full.Message));
        Assert.Equal(
            new ErrorInfo { Domain = "billing.internal", Reason = "TOO_MANY_IN_FLIGHT" }, full.GetDetail<ErrorInfo>());
        Assert.Equal(TimeSpan.FromSeconds(1.5), full.GetDetail<RetryInfo>()!.RetryDelay.ToTimeSpan());
        Assert.Null(full.GetDetail<BadRequest>());
        Assert.Equal("amount.nanos", Assert.Single(invalid.GetDetail<BadRequest>()!.FieldViolations).Field);
        Assert.Null(invalid.GetDetail<RetryInfo>());
    }

    [Fact]
    public void A_client_reads_the_reason_the_field_and_the_wait_from_the_details()
    {
        var full = Full.ToRpcException();
        var invalid = Failure.BadField(new FieldViolation("amount.nanos", "must be smaller")).ToRpcException();

        Assert.Equal((ErrorReasons.TooManyInFlight, ""), (ProxyFailure.Reason(full), ProxyFailure.Field(full)));
        Assert.Equal(Full.RetryAfter, ProxyFailure.RetryAfter(full));
        Assert.Equal(ErrorReasons.InvalidField, ProxyFailure.Reason(invalid));
        Assert.Equal("amount.nanos", ProxyFailure.Field(invalid));
        Assert.Null(ProxyFailure.RetryAfter(invalid));
    }

    [Fact]
    public void A_client_reads_the_wait_from_the_push_back_of_gRPC_too_and_nothing_from_what_are_no_details()
    {
        var failure = new RpcException(new Status(StatusCode.ResourceExhausted, "Full."), new Metadata
        {
            { MetadataExtensions.StatusDetailsTrailerName, new byte[] { 0xFF } },
            { Trailers.RetryPushback, "1500" },
        });

        Assert.Equal(("", ""), (ProxyFailure.Reason(failure), ProxyFailure.Field(failure)));
        Assert.Equal(TimeSpan.FromSeconds(1.5), ProxyFailure.RetryAfter(failure));
    }

    [Fact]
    public void A_reason_of_another_domain_is_not_one_of_the_platform()
    {
        var status = new Google.Rpc.Status
        {
            Code = (int)StatusCode.NotFound,
            Details =
            {
                Google.Protobuf.WellKnownTypes.Any.Pack(
                    new ErrorInfo { Domain = "gateway.example", Reason = ErrorReasons.PaymentNotFound }),
            },
        };

        Assert.Equal("", ProxyFailure.Reason(status.ToRpcException()));
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
        Assert.Equal(("TRANSACTION_ID_REUSED", "transaction_id"), (e.Reason(), e.Field()));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(17)]
    [InlineData(int.MaxValue)]
    public void An_error_with_a_status_that_is_no_error_becomes_INTERNAL(int statusCode)
    {
        var e = Failure.From(new Error { StatusCode = statusCode, Reason = "X", Message = "the message" })
            .ToRpcException();
        Assert.Equal(new Status(StatusCode.Internal, "the message"), e.Status);
        Assert.Equal("X", e.Reason());
    }

    [Theory]
    [InlineData(1)]
    [InlineData(16)]
    public void Every_status_that_is_an_error_is_kept(int statusCode) =>
        Assert.Equal(
            (StatusCode)statusCode, Failure.From(new Error { StatusCode = statusCode }).ToRpcException().StatusCode);

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
    public void Without_an_invalid_field_the_details_name_none() =>
        Assert.Null(Failure.From(new Error { StatusCode = 14, Reason = "X" }).ToRpcException().Field());

    [Fact]
    public void Who_watches_answers_reads_the_reason_from_the_headers_or_the_trailers_if_the_call_has_one()
    {
        var failure = new Failure(StatusCode.Unavailable, ErrorReasons.StreamIdle, "Idle.");
        var (refused, failed, unknown) = (new DefaultHttpContext(), new DefaultHttpContext(), new DefaultHttpContext());
        GrpcFailure.WriteTrailers(refused.Response.Headers, failure);
        var trailers = new SentTrailers();
        GrpcFailure.WriteTrailers(trailers.Trailers, failure);
        failed.Features.Set<IHttpResponseTrailersFeature>(trailers);
        unknown.Response.Headers["grpc-status"] = "2";

        Assert.Equal(
            (string?[])["STREAM_IDLE", "STREAM_IDLE", null],
            new[] { refused, failed, unknown }.Select(GrpcFailure.ReasonOf));
    }

    private sealed class SentTrailers : IHttpResponseTrailersFeature
    {
        public IHeaderDictionary Trailers { get; set; } = new HeaderDictionary();
    }
}
