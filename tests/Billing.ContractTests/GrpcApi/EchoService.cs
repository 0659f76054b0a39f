using Billing.ContractTests.Protos;
using Grpc.Core;

namespace Billing.ContractTests.GrpcApi;

public sealed class EchoService(EchoServer server) : Echo.EchoBase
{
    public const string EchoedPrefix = "x-echo";

    public override async Task<EchoReply> Say(EchoRequest request, ServerCallContext context)
    {
        var echoed = new Metadata();
        foreach (var header in context.RequestHeaders
            .Where(header => header.Key.StartsWith(EchoedPrefix, StringComparison.Ordinal)))
        {
            echoed.Add(header);
            context.ResponseTrailers.Add(header);
        }

        await context.WriteResponseHeadersAsync(echoed);
        ThrowIfRequested(request);
        if (request.Text == "status")
        {
            context.Status = new Status(StatusCode.FailedPrecondition, "set on the context");
        }

        return new EchoReply { Text = request.Text };
    }

    public override async Task Repeat(
        EchoRequest request, IServerStreamWriter<EchoReply> responseStream, ServerCallContext context)
    {
        for (int i = 0; i < request.Times; i++)
        {
            await responseStream.WriteAsync(new EchoReply { Text = $"{request.Text} {i}" }, context.CancellationToken);
        }

        ThrowIfRequested(request);
    }

    public override async Task<EchoReply> Collect(
        IAsyncStreamReader<EchoRequest> requestStream, ServerCallContext context)
    {
        var texts = new List<string>();
        while (await requestStream.MoveNext())
        {
            ThrowIfRequested(requestStream.Current);
            texts.Add(requestStream.Current.Text);
        }

        return new EchoReply { Text = string.Join(' ', texts) };
    }

    public override async Task Converse(
        IAsyncStreamReader<EchoRequest> requestStream,
        IServerStreamWriter<EchoReply> responseStream,
        ServerCallContext context)
    {
        await foreach (var request in requestStream.ReadAllAsync(context.CancellationToken))
        {
            ThrowIfRequested(request);
            await responseStream.WriteAsync(new EchoReply { Text = request.Text });
        }
    }

    public override async Task<EchoReply> Hang(EchoRequest request, ServerCallContext context)
    {
        var hang = server.HangOf(request.Text);
        await using var registration = context.CancellationToken.Register(() => hang.Cancelled.TrySetResult());
        hang.Started.TrySetResult(context);
        await hang.Cancelled.Task;
        return new EchoReply();
    }

    private static void ThrowIfRequested(EchoRequest request)
    {
        switch (request.Failure)
        {
            case null:
                return;
            case { Code: < 0 }:
                throw new InvalidOperationException(request.Failure.Detail);
            default:
                var trailers = new Metadata { { "reason", "asked" }, { "reason-bin", [0, 1, 254, 255] } };
                throw new RpcException(new Status((StatusCode)request.Failure.Code, request.Failure.Detail), trailers);
        }
    }
}
