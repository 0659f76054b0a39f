using Billing.ContractTests.Protos;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.ContractTests.GrpcApi;

public sealed class StatusTests(EchoServer server) : IClassFixture<EchoServer>
{
    public static TheoryData<StatusCode> ErrorCodes =>
        [.. Enum.GetValues<StatusCode>().Where(code => code != StatusCode.OK)];

    [Theory]
    [MemberData(nameof(ErrorCodes))]
    public async Task A_status_reaches_the_caller_with_its_detail_and_trailers(StatusCode code)
    {
        var request = new EchoRequest { Failure = new Failure { Code = (int)code, Detail = "kaputt: 100 % ü" } };

        var error = await Assert.ThrowsAsync<RpcException>(async () => await server.Client.SayAsync(request));

        Assert.Equal(code, error.StatusCode);
        Assert.Equal(code, error.Status.StatusCode);
        Assert.Equal("kaputt: 100 % ü", error.Status.Detail);
        Assert.Equal($"Status(StatusCode=\"{code}\", Detail=\"kaputt: 100 % ü\")", error.Message);
        Assert.Equal("asked", error.Trailers.GetValue("reason"));
        Assert.Equal(new byte[] { 0, 1, 254, 255 }, error.Trailers.GetValueBytes("reason-bin"));
    }

    [Fact]
    public async Task A_server_stream_may_fail_after_its_messages()
    {
        var failure = new Failure { Code = (int)StatusCode.DataLoss, Detail = "lost" };
        using var call = server.Client.Repeat(new EchoRequest { Times = 2, Failure = failure });

        Assert.True(await call.ResponseStream.MoveNext());
        Assert.True(await call.ResponseStream.MoveNext());
        var error = await Assert.ThrowsAsync<RpcException>(() => call.ResponseStream.MoveNext());

        Assert.Equal(StatusCode.DataLoss, error.StatusCode);
        Assert.Equal(StatusCode.DataLoss, call.GetStatus().StatusCode);
        Assert.Equal("asked", call.GetTrailers().GetValue("reason"));
    }

    [Fact]
    public async Task A_client_stream_may_be_rejected_before_it_is_complete()
    {
        using var call = server.Client.Collect();
        var failure = new Failure { Code = (int)StatusCode.InvalidArgument, Detail = "no" };
        await call.RequestStream.WriteAsync(new EchoRequest { Failure = failure });

        var error = await Assert.ThrowsAsync<RpcException>(async () => await call);

        Assert.Equal("Status(StatusCode=\"InvalidArgument\", Detail=\"no\")", error.Message);
    }

    [Fact]
    public async Task A_status_set_on_the_context_overrides_the_answer()
    {
        var error = await Assert.ThrowsAsync<RpcException>(
            async () => await server.Client.SayAsync(new EchoRequest { Text = "status" }));

        Assert.Equal(StatusCode.FailedPrecondition, error.StatusCode);
        Assert.Equal("set on the context", error.Status.Detail);
    }

    [Fact]
    public async Task Any_other_exception_becomes_UNKNOWN_without_its_details()
    {
        var request = new EchoRequest { Failure = new Failure { Code = -1, Detail = "secret" } };

        var error = await Assert.ThrowsAsync<RpcException>(async () => await server.Client.SayAsync(request));

        Assert.Equal(StatusCode.Unknown, error.StatusCode);
        Assert.Equal("Exception was thrown by handler.", error.Status.Detail);
    }

    [Fact]
    public async Task A_request_above_the_servers_limit_is_RESOURCE_EXHAUSTED()
    {
        var request = new EchoRequest { Text = new string('x', EchoServer.MaxMessageBytes + 1) };

        var error = await Assert.ThrowsAsync<RpcException>(async () => await server.Client.SayAsync(request));

        Assert.Equal(StatusCode.ResourceExhausted, error.StatusCode);
        Assert.Equal("Received message exceeds the maximum configured message size.", error.Status.Detail);
    }

    [Fact]
    public async Task An_answer_above_the_clients_limit_is_RESOURCE_EXHAUSTED()
    {
        using var channel = GrpcChannel.ForAddress(
            server.Address, new GrpcChannelOptions { MaxReceiveMessageSize = 1024 });

        var error = await Assert.ThrowsAsync<RpcException>(
            async () => await new Echo.EchoClient(channel).SayAsync(new EchoRequest { Text = new string('x', 2048) }));

        Assert.Equal(StatusCode.ResourceExhausted, error.StatusCode);
    }

    [Fact]
    public async Task A_call_to_an_unknown_method_is_UNIMPLEMENTED()
    {
        var method = new Method<string, string>(
            MethodType.Unary,
            "billing.contracttests.Echo",
            "Nothing",
            Marshallers.StringMarshaller,
            Marshallers.StringMarshaller);

        using var call = server.Channel.CreateCallInvoker().AsyncUnaryCall(method, null, new CallOptions(), "");
        var error = await Assert.ThrowsAsync<RpcException>(async () => await call);

        Assert.Equal(StatusCode.Unimplemented, error.StatusCode);
    }

    [Fact]
    public async Task A_call_to_an_unreachable_server_is_UNAVAILABLE_with_its_cause()
    {
        // Nothing listens on loopback port 1, and no ephemeral port can be allocated there by chance.
        using var channel = GrpcChannel.ForAddress("http://127.0.0.1:1");

        var error = await Assert.ThrowsAsync<RpcException>(
            async () => await new Echo.EchoClient(channel).SayAsync(new EchoRequest()));

        Assert.Equal(StatusCode.Unavailable, error.StatusCode);
        Assert.NotNull(error.Status.DebugException);
        Assert.Contains("DebugException=\"", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_message_of_an_exception_is_its_status_unless_one_is_given()
    {
        var status = new Status(StatusCode.NotFound, "gone");

        Assert.Equal("Status(StatusCode=\"NotFound\", Detail=\"gone\")", new RpcException(status).Message);
        Assert.Equal("mine", new RpcException(status, "mine").Message);
        Assert.Same(Metadata.Empty, new RpcException(status).Trailers);
        Assert.Equal("Status(StatusCode=\"OK\", Detail=\"\")", Status.DefaultSuccess.ToString());
        Assert.Equal(StatusCode.Cancelled, Status.DefaultCancelled.StatusCode);
        Assert.Throws<ArgumentNullException>(() => new RpcException(status, (Metadata)null!));
    }

    [Fact]
    public void A_debug_exception_appears_with_type_and_message_and_is_the_inner_exception()
    {
        var cause = Assert.Throws<InvalidOperationException>(new Action(() => throw new InvalidOperationException("why")));
        var error = new RpcException(new Status(StatusCode.Internal, "what", cause));

        Assert.Equal(
            "Status(StatusCode=\"Internal\", Detail=\"what\", DebugException=\"System.InvalidOperationException: why\")",
            error.Status.ToString());
        Assert.Equal(error.Status.ToString(), error.Message);
        Assert.Same(cause, error.InnerException);
        Assert.Same(cause, new RpcException(error.Status, [], "told otherwise").InnerException);
        Assert.Null(new RpcException(Status.DefaultCancelled).InnerException);
    }

    [Fact]
    public void The_base_serialization_context_ignores_the_length_and_implements_nothing_else()
    {
        var context = new BareContext();

        context.SetPayloadLength(3);

        Assert.Throws<NotImplementedException>(() => context.Complete([]));
        Assert.Throws<NotImplementedException>(context.Complete);
        Assert.Throws<NotImplementedException>(context.GetBufferWriter);
    }

    [Fact]
    public void A_service_definition_binds_its_methods_to_any_binder()
    {
        var binder = new CountingBinder();

        BoundByHand.Definition.BindService(binder);

        Assert.Equal([BoundByHand.Reverse.FullName], binder.Bound);
    }

    private sealed class BareContext : SerializationContext;

    private sealed class CountingBinder : ServiceBinderBase
    {
        public List<string> Bound { get; } = [];

        public override void AddMethod<TRequest, TResponse>(
            Method<TRequest, TResponse> method, UnaryServerMethod<TRequest, TResponse>? handler)
            => Bound.Add(method.FullName);
    }
}
