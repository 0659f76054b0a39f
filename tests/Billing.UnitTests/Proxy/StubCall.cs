using Grpc.Core;
using Microsoft.AspNetCore.Http;

namespace Billing.UnitTests.Proxy;

/// <summary>The context of a call with a given deadline.</summary>
internal sealed class StubCall(DateTime deadline, CancellationToken cancellationToken = default) : ServerCallContext
{
    private Dictionary<object, object>? _userState;

    protected override string MethodCore => "";

    protected override string HostCore => "";

    protected override string PeerCore => "";

    protected override DateTime DeadlineCore => deadline;

    protected override Metadata RequestHeadersCore { get; } = [];

    protected override CancellationToken CancellationTokenCore => cancellationToken;

    protected override Metadata ResponseTrailersCore { get; } = [];

    protected override Status StatusCore { get; set; }

    protected override WriteOptions? WriteOptionsCore { get; set; }

    /// <summary>The HTTP request of the call.</summary>
    public DefaultHttpContext Http { get; } = new();

    // The key under which GetHttpContext looks for it if the context is not one of the server's own type.
    protected override IDictionary<object, object> UserStateCore => _userState ??= new() { ["__HttpContext"] = Http };

    protected override AuthContext AuthContextCore { get; } = new(null, []);

    protected override Task WriteResponseHeadersAsyncCore(Metadata responseHeaders) => Task.CompletedTask;

    protected override ContextPropagationToken CreatePropagationTokenCore(ContextPropagationOptions? options) =>
        throw new NotSupportedException();
}
