using System.Collections.Concurrent;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Billing.IntegrationTests.Webhooks;

/// <summary>A request that a receiver got: its headers that begin with <c>webhook-</c>, and the status that it
/// was answered with.</summary>
internal sealed record Received(string Id, string Timestamp, string Signature, string Path, string Body, int Answer)
{
    /// <summary>The account, as the body states it.</summary>
    public string Account { get; } = JsonDocument.Parse(Body).RootElement.GetProperty("account_id").GetString()!;

    /// <summary>The transaction id, as the body states it; empty if it states none.</summary>
    public string TransactionId { get; } =
        JsonDocument.Parse(Body).RootElement.TryGetProperty("transaction_id", out var id) ? id.GetString()! : "";

    /// <summary>The version, as the body states it.</summary>
    public long Version { get; } = JsonDocument.Parse(Body).RootElement.GetProperty("version").GetInt64();
}

/// <summary>An HTTP server that takes events, on a port of its own.</summary>
internal sealed class Receiver(int port) : IAsyncDisposable
{
    private readonly ConcurrentQueue<Received> _received = new();
    private WebApplication? _server;

    public string Url => $"http://127.0.0.1:{port}/events";

    /// <summary>Everything that was received, in order.</summary>
    public IReadOnlyList<Received> All => [.. _received];

    /// <summary>What was taken.</summary>
    public IReadOnlyList<Received> Taken =>
    [
        .. _received.Where(received => received.Answer == StatusCodes.Status204NoContent),
    ];

    /// <summary>Answers a request by its account and returns the status.</summary>
    public Func<string, HttpContext, Task<int>> Answer { get; set; } = (_, _) =>
        Task.FromResult(StatusCodes.Status204NoContent);

    public async Task<Receiver> StartAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls($"http://127.0.0.1:{port}");
        _server = builder.Build();
        _server.Run(TakeAsync);
        await _server.StartAsync();
        return this;
    }

    public async Task StopAsync()
    {
        if (_server is { } server)
        {
            _server = null;
            await server.StopAsync();
            await server.DisposeAsync();
        }
    }

    public ValueTask DisposeAsync() => new(StopAsync());

    /// <summary>Waits until each of these accounts' events up to a version was taken.</summary>
    public Task UntilTakenAsync(
        IReadOnlyCollection<string> accounts, long version, CancellationToken cancellationToken) => Poll.UntilAsync(
        () => Taken.Where(taken => taken.Version <= version && accounts.Contains(taken.Account))
            .DistinctBy(taken => taken.Id).Count() >= accounts.Count * version,
        cancellationToken);

    /// <summary>Fails the test unless the events of each account were first taken in order and without a gap.</summary>
    public void IsInOrder(IReadOnlyCollection<string> accounts) => Assert.All(accounts, account =>
    {
        var versions = Taken.Where(taken => taken.Account == account).DistinctBy(taken => taken.Id)
            .Select(taken => taken.Version).ToList();
        Assert.Equal(Enumerable.Range(1, versions.Count).Select(version => (long)version), versions);
    });

    private async Task TakeAsync(HttpContext http)
    {
        using var reader = new StreamReader(http.Request.Body, Encoding.UTF8);
        var body = await reader.ReadToEndAsync(http.RequestAborted);
        var account = JsonDocument.Parse(body).RootElement.GetProperty("account_id").GetString()!;
        var status = await Answer(account, http);
        http.Response.StatusCode = status;
        string Header(string name) => http.Request.Headers[name].Single()!;
        _received.Enqueue(new Received(
            Header("webhook-id"), Header("webhook-timestamp"),
            Header("webhook-signature"), http.Request.Path, body, status));
    }
}
