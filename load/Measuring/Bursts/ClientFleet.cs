using System.Globalization;
using Billing.LoadClient;
using Billing.LocalStack.Processes;

namespace Billing.Measuring.Bursts;

/// <summary>The clients of one experiment: they warm up independently and begin at the same time.</summary>
internal sealed class ClientFleet : IAsyncDisposable
{
    private readonly List<ClientProcess> _clients;

    private ClientFleet(List<ClientProcess> clients) => _clients = clients;

    /// <summary>Number of requests answered or failed so far.</summary>
    public int Done => _clients.Sum(c => c.Done);

    /// <summary>The clients' journals.</summary>
    public IReadOnlyList<string> Journals => [.. _clients.Select(c => c.Journal)];

    /// <param name="options">The load of each client.</param>
    /// <param name="count">Number of clients.</param>
    /// <param name="folder">The folder for their journals.</param>
    /// <param name="name">A name that distinguishes this fleet's files from those of other fleets.</param>
    public static ClientFleet Start(LoadOptions options, int count, StackFolder folder, string name = "client") => new(
        [.. Enumerable.Range(1, count).Select(n => ClientProcess.Start(
            options, n, folder.CreateSubfolder(string.Create(CultureInfo.InvariantCulture, $"{name}-{n}"))))]);

    /// <summary>Waits until all clients have warmed up.</summary>
    public Task WaitUntilReadyAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(_clients.Select(c => c.WaitUntilReadyAsync(cancellationToken)));

    /// <summary>Starts all clients and waits for their results.</summary>
    public Task<LoadResult[]> RunAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(_clients.Select(c => c.RunAsync(cancellationToken)));

    public async ValueTask DisposeAsync()
    {
        foreach (var client in _clients)
        {
            await client.DisposeAsync();
        }
    }
}
