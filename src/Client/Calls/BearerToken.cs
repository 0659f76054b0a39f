using Grpc.Core;

namespace Billing.Client;

/// <summary>The headers that identify the caller.</summary>
internal sealed class BearerToken(BillingClientOptions options)
{
    private readonly Metadata? _fixed = options.Token is { } token ? Headers(token) : null;

    /// <summary>Returns the headers of a call; null if there is no token. Waits only for a token provider.</summary>
    public async ValueTask<Metadata?> HeadersAsync(CancellationToken cancellationToken) =>
        options.TokenProvider is { } provider ? Headers(await provider(cancellationToken)) : _fixed;

    private static Metadata Headers(string token) => new() { { "authorization", "Bearer " + token } };
}
