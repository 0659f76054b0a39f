using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;

namespace Billing.Chaos.Rest;

/// <summary>Calls proxies over REST, all in turn, as a program without the SDK does.</summary>
/// <param name="patience">How long an answer is waited for.</param>
/// <param name="handler">Sends the requests; null for the network.</param>
/// <param name="token">The token that identifies the caller; null for none.</param>
internal sealed class RestProxies(
    IReadOnlyList<string> addresses, TimeSpan patience, HttpMessageHandler? handler = null, string? token = null)
    : IDisposable
{
    private readonly HttpClient _http = new(handler ?? new SocketsHttpHandler()) { Timeout = patience };
    private readonly Uri[] _addresses = [.. addresses.Select(address => new Uri(address))];
    private uint _turn;

    /// <summary>Sends a request to the proxy whose turn it is.</summary>
    /// <param name="path">The path with its query, as it is.</param>
    /// <param name="body">The body, as JSON; null for none.</param>
    /// <param name="timeout">How long the proxy may take.</param>
    /// <param name="isAsync">Whether the caller does not want to wait for the outcome.</param>
    /// <returns>The answer; one with the status 0 if there was none.</returns>
    public async Task<RestReply> SendAsync(
        HttpMethod method, string path, string? body, TimeSpan timeout, bool isAsync,
        CancellationToken cancellationToken)
    {
        var proxy = _addresses[Interlocked.Increment(ref _turn) % (uint)_addresses.Length];
        using var request = new HttpRequestMessage(method, new Uri(proxy, path));
        request.Headers.Add("billing-timeout-ms", $"{timeout.TotalMilliseconds:0}");
        request.Headers.Authorization = token is null ? null : new AuthenticationHeaderValue("Bearer", token);
        if (isAsync)
        {
            request.Headers.Add("Prefer", "respond-async");
        }
        if (body is not null)
        {
            request.Content = new StringContent(body, Encoding.UTF8, new MediaTypeHeaderValue("application/json"));
        }
        try
        {
            using var response = await _http.SendAsync(request, cancellationToken);
            return await RestReply.OfAsync(response, cancellationToken);
        }
        catch (Exception e) when (e is HttpRequestException or OperationCanceledException)
        {
            cancellationToken.ThrowIfCancellationRequested();
            return default;
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();
}

/// <summary>An answer of a proxy.</summary>
/// <param name="Status">Its HTTP status; 0 if there was no answer.</param>
/// <param name="Body">Its JSON; undefined if it has none.</param>
/// <param name="Location">The address that it names; null if none.</param>
/// <param name="RetryAfter">After what time it wants to be asked again.</param>
internal readonly record struct RestReply(int Status, JsonElement Body, string? Location, TimeSpan RetryAfter)
{
    /// <summary>Why a request was refused, for programs; empty if it does not say so.</summary>
    public string Reason => Text("reason") ?? "";

    /// <summary>Reads an answer.</summary>
    public static async Task<RestReply> OfAsync(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        var text = await response.Content.ReadAsStringAsync(cancellationToken);
        return new RestReply(
            (int)response.StatusCode, Parse(text), response.Headers.Location?.OriginalString,
            response.Headers.RetryAfter?.Delta ?? TimeSpan.Zero);
    }

    /// <summary>The text of a member, also of a number; null if it is absent.</summary>
    public string? Text(string name) => Member(name)?.ToString();

    /// <summary>A member; null if it is absent.</summary>
    public JsonElement? Member(string name) =>
        Body.ValueKind == JsonValueKind.Object && Body.TryGetProperty(name, out var member)
            && member.ValueKind != JsonValueKind.Null ? member : null;

    /// <summary>The answer with a member as its whole body.</summary>
    public RestReply Only(string name) => this with { Body = Member(name) ?? default };

    /// <inheritdoc/>
    public override string ToString() => $"{Status} {Body}";

    private static JsonElement Parse(string text)
    {
        try
        {
            return JsonElement.Parse(text);
        }
        catch (JsonException)
        {
            return default;
        }
    }
}
