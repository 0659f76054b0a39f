using System.Net.Sockets;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.Rpc.Proxies;

/// <summary>Calls a backend over gRPC.</summary>
internal sealed class GrpcBackendChannel : IBackendChannel
{
    private readonly CallFailures _failures;
    private readonly TimeProvider _wallClock;
    private readonly GrpcChannel _channel;
    private readonly Backend.BackendClient _client;

    public GrpcBackendChannel(string address, DirectOptions options, TimeProvider time, ILogger logger)
    {
        _failures = new CallFailures(address, time, logger);
        // Grpc.Net.Client compares deadlines with the system clock.
        _wallClock = time.WallClock();
        _channel = GrpcChannel.ForAddress("http://" + address, new GrpcChannelOptions
        {
            HttpHandler = new SocketsHttpHandler
            {
                // A burst needs more streams than one connection allows.
                EnableMultipleHttp2Connections = true,
                PooledConnectionIdleTimeout = TimeSpan.FromMinutes(5),
                // A backend's process answers the ping, and may be busy with the burst before.
                KeepAlivePingDelay = TimeSpan.FromSeconds(15),
                KeepAlivePingTimeout = TimeSpan.FromMinutes(1),
                ConnectTimeout = options.ConnectTimeout,
            },
            DisposeHttpClient = true,
        });
        _client = new Backend.BackendClient(_channel);
    }

    public async Task<Reply> ExecuteAsync(Request request, TimeSpan left)
    {
        try
        {
            var deadline = (_wallClock.GetUtcNow() + left).UtcDateTime;
            return await _client.ExecuteAsync(request.ToCommand(), deadline: deadline);
        }
        catch (RpcException e)
        {
            return Failed(e);
        }
    }

    public ValueTask DisposeAsync()
    {
        _channel.Dispose();
        return ValueTask.CompletedTask;
    }

    private Reply Failed(RpcException e) => e.StatusCode switch
    {
        StatusCode.Unavailable => _failures.Unavailable(e.Status.Detail),
        StatusCode.DeadlineExceeded => Replies.NoAnswerInTime(0),
        // There is no specific status for a connection that is lost during a call.
        _ when e.Status.DebugException is HttpRequestException or IOException or SocketException =>
            _failures.Unavailable(e.Status.Detail),
        _ => _failures.InvalidReply(e.StatusCode, e.Status.Detail),
    };
}
