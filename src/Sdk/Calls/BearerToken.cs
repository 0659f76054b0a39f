using Grpc.Core;

namespace Billing.Client;

/// <summary>What the headers of calls say about who calls.</summary>
internal sealed class BearerToken(BillingClientOptions options)
{
    private const string Header = "authorization";

    private readonly Metadata? _fixed = options.Token is { } token ? Headers(token) : null;

    /// <summary>Whether it is at hand without waiting.</summary>
    public bool IsFixed => options.TokenProvider is null;

    /// <summary>The headers of a call; null where there is no token.</summary>
    public async ValueTask<Metadata?> HeadersAsync(CancellationToken cancellationToken) =>
        options.TokenProvider is { } provider ? Headers(await provider(cancellationToken)) : _fixed;

    /// <summary>The same where <see cref="IsFixed"/>.</summary>
    public Metadata? FixedHeaders => _fixed;

    private static Metadata Headers(string token) => new() { { Header, "Bearer " + token } };
}
