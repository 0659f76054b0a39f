using Grpc.Core;

namespace Billing.Client;

/// <summary>The headers that identify the caller.</summary>
internal sealed class BearerToken(BillingClientOptions options, string section, TimeProvider time)
{
    private readonly Metadata? _fixed = options.Token is { } token ? Headers(token) : null;

    /// <summary>Whether a text may be sent as a token. Anything else would break the connection, with the
    /// calls of others on it.</summary>
    public static bool IsValid(string? token) =>
        !string.IsNullOrEmpty(token) && !token.AsSpan().ContainsAnyExceptInRange('!', '~');

    /// <summary>Returns the headers of a call; null if there is no token. Waits only for a token provider.</summary>
    /// <param name="max">The longest time to wait for it.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="RpcException">The provider has returned no token in this time.</exception>
    /// <exception cref="InvalidOperationException">The provider has returned what is no token.</exception>
    public async ValueTask<Metadata?> HeadersAsync(TimeSpan max, CancellationToken cancellationToken)
    {
        if (options.TokenProvider is not { } provider)
        {
            return _fixed;
        }
        using var late = new CancellationTokenSource(ProxyCalls.TimerOf(max), time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(late.Token, cancellationToken);
        string token;
        try
        {
            var asked = provider(either.Token);
            // A provider may ignore its token.
            token = await (asked.IsCompleted ? asked.AsTask() : asked.AsTask().WaitAsync(either.Token))
                .ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (late.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            throw new RpcException(new Status(
                StatusCode.DeadlineExceeded,
                $"The attempt was not sent: {section}:TokenProvider has returned no token within {max}."));
        }
        return IsValid(token)
            ? Headers(token)
            : throw new InvalidOperationException(
                $"Nothing was sent: {section}:TokenProvider has returned no token, which has only visible ASCII "
                + "characters, no spaces and no line end.");
    }

    private static Metadata Headers(string token) => new() { { "authorization", "Bearer " + token } };
}
