using Billing.Proxy.Security;
using Grpc.Core;
using Microsoft.AspNetCore.Http;

namespace Billing.Simulation.Doors;

/// <summary>The context of a gRPC call, as the server gives it to a service.</summary>
/// <param name="method">The method, for messages.</param>
/// <param name="deadline">When the caller waits no more, on the wall clock; DateTime.MaxValue for never.</param>
internal sealed class GrpcCall(string method, DateTime deadline) : ServerCallContext
{
    private static readonly Caller Stranger = new("client");

    private Dictionary<object, object>? _userState;

    protected override string MethodCore => method;

    protected override string HostCore => "";

    protected override string PeerCore => "";

    protected override DateTime DeadlineCore => deadline;

    protected override Metadata RequestHeadersCore { get; } = [];

    protected override CancellationToken CancellationTokenCore => CancellationToken.None;

    protected override Metadata ResponseTrailersCore { get; } = [];

    protected override Status StatusCore { get; set; }

    protected override WriteOptions? WriteOptionsCore { get; set; }

    // The key under which GetHttpContext looks for it if the context is not one of the server's own type.
    protected override IDictionary<object, object> UserStateCore =>
        _userState ??= new() { ["__HttpContext"] = NewHttp() };

    protected override AuthContext AuthContextCore { get; } = new(null, []);

    protected override Task WriteResponseHeadersAsyncCore(Metadata responseHeaders) => Task.CompletedTask;

    protected override ContextPropagationToken CreatePropagationTokenCore(ContextPropagationOptions? options) =>
        throw new NotSupportedException();

    private static DefaultHttpContext NewHttp()
    {
        var http = new DefaultHttpContext();
        http.Features.Set(Stranger);
        return http;
    }
}
