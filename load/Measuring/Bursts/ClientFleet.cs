using System.Globalization;
using Billing.Client.Load;
using Billing.LocalStack.Processes;

namespace Billing.Measuring.Bursts;

/// <summary>The clients of one experiment: they warm up on their own, and begin together.</summary>
internal sealed class ClientFleet : IAsyncDisposable
{
    private readonly List<ClientProcess> _clients;

    private ClientFleet(List<ClientProcess> clients) => _clients = clients;

    /// <summary>Requests answered or failed so far.</summary>
    public int Done => _clients.Sum(c => c.Done);

    /// <summary>The files with what was acknowledged.</summary>
    public IReadOnlyList<string> Journals => [.. _clients.Select(c => c.Journal)];

    /// <param name="options">What each client does.</param>
    /// <param name="count">How many clients.</param>
    /// <param name="folder">Where their journals go.</param>
    /// <param name="name">Tells this fleet's files from another's.</param>
    public static ClientFleet Start(LoadOptions options, int count, StackFolder folder, string name = "client") => new(
        [.. Enumerable.Range(1, count).Select(n => ClientProcess.Start(
            options, n, folder.CreateSubfolder(string.Create(CultureInfo.InvariantCulture, $"{name}-{n}"))))]);

    /// <summary>Waits until all have warmed up.</summary>
    public Task WaitUntilReadyAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(_clients.Select(c => c.WaitUntilReadyAsync(cancellationToken)));

    /// <summary>Lets all begin, and waits for their measurements.</summary>
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
