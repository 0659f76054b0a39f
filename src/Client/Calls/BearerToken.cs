using Grpc.Core;

namespace Billing.Client;

/// <summary>The headers that identify the caller.</summary>
internal sealed class BearerToken(BillingClientOptions options)
{
    private const string Header = "authorization";

    private readonly Metadata? _fixed = options.Token is { } token ? Headers(token) : null;

    /// <summary>Whether the token is fixed, so that it can be read without waiting.</summary>
    public bool IsFixed => options.TokenProvider is null;

    /// <summary>Returns the headers of a call; null if there is no token.</summary>
    public async ValueTask<Metadata?> HeadersAsync(CancellationToken cancellationToken) =>
        options.TokenProvider is { } provider ? Headers(await provider(cancellationToken)) : _fixed;

    /// <summary>The headers of every call if <see cref="IsFixed"/>; null if there is no token.</summary>
    public Metadata? FixedHeaders => _fixed;

    private static Metadata Headers(string token) => new() { { Header, "Bearer " + token } };
}
