using System.Net.Http.Headers;
using System.Text.Json;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Rpc.Proxies;

/// <summary>Calls a backend over REST: each command is one POST with a JSON body.</summary>
internal sealed class RestBackendChannel : IBackendChannel
{
    private static readonly MediaTypeHeaderValue Json = new("application/json");

    private readonly CallFailures _failures;
    private readonly Uri _commands;
    private readonly TimeProvider _time;
    private readonly HttpClient _http;

    public RestBackendChannel(string address, DirectOptions options, TimeProvider time, ILogger logger)
    {
        _failures = new CallFailures(address, time, logger);
        _commands = new Uri("http://" + address + WireJson.Path);
        _time = time;
        _http = new HttpClient(new SocketsHttpHandler
        {
            MaxConnectionsPerServer = options.RestConnections,
            PooledConnectionIdleTimeout = TimeSpan.FromMinutes(1),
            ConnectTimeout = options.ConnectTimeout,
            UseCookies = false,
            AllowAutoRedirect = false,
        })
        {
            // Each call has its own deadline.
            Timeout = Timeout.InfiniteTimeSpan,
        };
    }

    public async Task<Reply> ExecuteAsync(Request request, TimeSpan left)
    {
        using var deadline = new CancellationTokenSource(left, _time);
        try
        {
            using var post = new HttpRequestMessage(HttpMethod.Post, _commands) { Content = Body(request.ToCommand()) };
            using var response = await _http.SendAsync(post, HttpCompletionOption.ResponseHeadersRead, deadline.Token);
            if (!response.IsSuccessStatusCode)
            {
                return _failures.InvalidReply(StatusCode.Internal, $"HTTP status {(int)response.StatusCode}");
            }
            await using var body = await response.Content.ReadAsStreamAsync(deadline.Token);
            return await JsonSerializer.DeserializeAsync(body, WireJson.Reply, deadline.Token)
                ?? _failures.InvalidReply(StatusCode.Internal, "the response body is null");
        }
        catch (OperationCanceledException)
        {
            return Replies.NoAnswerInTime(0);
        }
        catch (Exception e) when (e is HttpRequestException or IOException)
        {
            return _failures.Unavailable(e.Message);
        }
        catch (JsonException e)
        {
            return _failures.InvalidReply(StatusCode.Internal, e.Message);
        }
    }

    public ValueTask DisposeAsync()
    {
        _http.Dispose();
        return ValueTask.CompletedTask;
    }

    private static ByteArrayContent Body(Command command)
    {
        var body = new ByteArrayContent(JsonSerializer.SerializeToUtf8Bytes(command, WireJson.Command));
        body.Headers.ContentType = Json;
        return body;
    }
}
