using System.Diagnostics;
using Billing.Hosting.Telemetry;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Rpc.Rpcx;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Rpc.Proxies;

/// <summary>Calls a backend over RPCX.</summary>
internal sealed class RpcxBackendChannel : IBackendChannel
{
    private readonly CallFailures _failures;
    private readonly TimeProvider _time;
    private readonly RpcxClient _client;
    private readonly IBackendService _backend;

    public RpcxBackendChannel(string address, DirectOptions options, TimeProvider time, ILogger<RpcxClient> logger)
    {
        _failures = new CallFailures(address, time, logger);
        _time = time;
        _client = new RpcxClient(
            new RpcxClientOptions(address) { ConnectTimeout = options.ConnectTimeout }, time, logger);
        _backend = _client.Proxy<IBackendService>();
    }

    public async Task<Reply> ExecuteAsync(Request request, TimeSpan left)
    {
        var span = Tracing.Start(Tracing.ExecuteSpan, ActivityKind.Client, Tracing.Current);
        try
        {
            var command = request.ToCommand(traceParent: span is null ? "" : Tracing.TraceParent(span.Context));
            return await _backend.ExecuteAsync(command).WaitAsync(left, _time);
        }
        catch (TimeoutException)
        {
            return Replies.NoAnswerInTime(0);
        }
        catch (RpcxException e)
        {
            return e.StatusCode == StatusCode.Unavailable
                ? _failures.Unavailable(e.Message)
                : _failures.InvalidReply(e.StatusCode, e.Message);
        }
        finally
        {
            Tracing.End(span);
        }
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();
}
