using Billing.ContractTests.Protos;
using Grpc.Core;

namespace Billing.ContractTests.GrpcApi;

public sealed class DeadlineAndCancellationTests(EchoServer server) : IClassFixture<EchoServer>
{
    [Fact]
    public async Task A_call_ends_when_its_deadline_passes()
    {
        using var call = server.Client.HangAsync(
            new EchoRequest { Text = "deadline" }, deadline: EchoServer.In(TimeSpan.FromMilliseconds(300)));

        var error = await Assert.ThrowsAsync<RpcException>(async () => await call);

        Assert.Equal(StatusCode.DeadlineExceeded, error.StatusCode);
    }

    [Fact]
    public async Task A_deadline_already_passed_fails_at_once()
    {
        var past = EchoServer.In(TimeSpan.FromMinutes(-1));

        var error = await Assert.ThrowsAsync<RpcException>(
            async () => await server.Client.SayAsync(new EchoRequest(), deadline: past));

        Assert.Equal(StatusCode.DeadlineExceeded, error.StatusCode);
    }

    [Fact]
    public async Task The_server_sees_the_callers_deadline_and_identity()
    {
        var deadline = EchoServer.In(TimeSpan.FromMinutes(5));
        using var call = server.Client.HangAsync(new EchoRequest { Text = "seen" }, deadline: deadline);
        var context = await server.HangOf("seen").Started.Task;
        Assert.InRange(context.Deadline, deadline.AddMinutes(-1), deadline.AddMinutes(1));
        Assert.Equal("/billing.contracttests.Echo/Hang", context.Method);
        Assert.Equal(server.Address.Authority, context.Host);
        Assert.StartsWith("ipv4:127.0.0.1:", context.Peer, StringComparison.Ordinal);
        Assert.False(context.AuthContext.IsPeerAuthenticated);
        Assert.Empty(context.AuthContext.PeerIdentity);
        Assert.Equal(StatusCode.OK, context.Status.StatusCode);

        call.Dispose();
        await server.HangOf("seen").Cancelled.Task;
    }

    [Fact]
    public async Task A_cancellation_by_the_caller_ends_the_call_on_both_sides()
    {
        using var caller = new CancellationTokenSource();
        using var call = server.Client.HangAsync(
            new EchoRequest { Text = "token" }, cancellationToken: caller.Token);
        await server.HangOf("token").Started.Task;

        await caller.CancelAsync();
        var error = await Assert.ThrowsAsync<RpcException>(async () => await call);

        Assert.Equal(StatusCode.Cancelled, error.StatusCode);
        Assert.Equal("Call canceled by the client.", error.Status.Detail);
        await server.HangOf("token").Cancelled.Task;
    }

    [Fact]
    public async Task Disposing_a_call_cancels_it()
    {
        var call = server.Client.HangAsync(new EchoRequest { Text = "disposed" });
        await server.HangOf("disposed").Started.Task;

        call.Dispose();
        var error = await Assert.ThrowsAsync<RpcException>(async () => await call);

        Assert.Equal(StatusCode.Cancelled, error.StatusCode);
        await server.HangOf("disposed").Cancelled.Task;
    }

    [Fact]
    public async Task Cancelling_a_read_from_a_stream_gives_CANCELLED()
    {
        using var reader = new CancellationTokenSource();
        using var call = server.Client.Converse();
        var reading = call.ResponseStream.MoveNext(reader.Token);

        await reader.CancelAsync();
        var error = await Assert.ThrowsAsync<RpcException>(() => reading);

        Assert.Equal(StatusCode.Cancelled, error.StatusCode);
    }

    [Fact]
    public void Changing_call_options_returns_a_copy()
    {
        using var source = new CancellationTokenSource();
        var deadline = EchoServer.In(TimeSpan.Zero);
        var credentials = CallCredentials.FromInterceptor((_, _) => Task.CompletedTask);
        var none = new CallOptions();
        var headers = new Metadata();

        var options = none.WithHeaders(headers).WithDeadline(deadline).WithCancellationToken(source.Token)
            .WithWriteOptions(WriteOptions.Default).WithCredentials(credentials).WithWaitForReady();

        Assert.Same(headers, options.Headers);
        Assert.Equal(deadline, options.Deadline);
        Assert.Equal(source.Token, options.CancellationToken);
        Assert.Same(WriteOptions.Default, options.WriteOptions);
        Assert.Same(credentials, options.Credentials);
        Assert.True(options.IsWaitForReady);
        Assert.False(options.WithWaitForReady(false).IsWaitForReady);
        Assert.Null(options.PropagationToken);
        Assert.Null(none.Headers);
        Assert.Null(none.Deadline);
        Assert.False(none.IsWaitForReady);
    }
}
