using Grpc.Core;
using Microsoft.AspNetCore.Http;

namespace Billing.UnitTests.Proxy;

/// <summary>The context of a call, as a caller with this deadline makes it.</summary>
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

    /// <summary>The request as the server has it.</summary>
    public DefaultHttpContext Http { get; } = new();

    // Where the server's own extension looks for it in a call that is not the server's.
    protected override IDictionary<object, object> UserStateCore => _userState ??= new() { ["__HttpContext"] = Http };

    protected override AuthContext AuthContextCore { get; } = new(null, []);

    protected override Task WriteResponseHeadersAsyncCore(Metadata responseHeaders) => Task.CompletedTask;

    protected override ContextPropagationToken CreatePropagationTokenCore(ContextPropagationOptions? options) =>
        throw new NotSupportedException();
}
