using System.Net;
using System.Net.Sockets;

namespace Billing.Client.Connections;

/// <summary>Connects to whichever address of a name answers first, as RFC 8305 describes: an address that answers
/// nothing delays the next one by a quarter of a second, and not by the minutes that its own attempt takes.</summary>
internal static class AddressRace
{
    private static readonly TimeSpan HeadStart = TimeSpan.FromMilliseconds(250);

    /// <summary>Opens a connection.</summary>
    /// <param name="addresses">The addresses, the best first. Those of IPv6 and of IPv4 take turns.</param>
    /// <param name="port">The port.</param>
    /// <param name="prepare">Called with the socket of each attempt.</param>
    /// <param name="cancellationToken">Cancels all attempts.</param>
    /// <exception cref="SocketException">No address can be reached: the failure of the last one.</exception>
    public static async Task<Socket> ConnectAsync(
        IReadOnlyList<IPAddress> addresses, int port, Action<Socket> prepare, CancellationToken cancellationToken)
    {
        using var decided = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var waiting = new Queue<IPAddress>(InTurn(addresses));
        var running = new List<Task<Socket>>();
        try
        {
            while (true)
            {
                if (waiting.TryDequeue(out var address))
                {
                    running.Add(ConnectAsync(new IPEndPoint(address, port), prepare, decided.Token));
                }
                var any = Task.WhenAny(running);
                if (waiting.Count > 0)
                {
                    await Task.WhenAny(any, Task.Delay(HeadStart, decided.Token)).ConfigureAwait(false);
                    if (!any.IsCompleted)
                    {
                        continue;
                    }
                }
                var ended = await any.ConfigureAwait(false);
                running.Remove(ended);
                if (ended.IsCompletedSuccessfully || (running.Count == 0 && waiting.Count == 0))
                {
                    return await ended.ConfigureAwait(false);
                }
            }
        }
        finally
        {
            await decided.CancelAsync().ConfigureAwait(false);
            running.ForEach(late => _ = CloseAsync(late));
        }
    }

    /// <summary>Returns addresses in their order, but a family after the other while there are both.</summary>
    internal static IEnumerable<IPAddress> InTurn(IReadOnlyList<IPAddress> addresses)
    {
        var families = addresses.GroupBy(address => address.AddressFamily).Select(family => family.ToList()).ToList();
        return Enumerable.Range(0, families.Select(family => family.Count).DefaultIfEmpty().Max())
            .SelectMany(turn => families.Where(family => turn < family.Count).Select(family => family[turn]));
    }

    private static async Task<Socket> ConnectAsync(
        IPEndPoint endPoint, Action<Socket> prepare, CancellationToken cancellationToken)
    {
        var socket = new Socket(endPoint.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            prepare(socket);
            await socket.ConnectAsync(endPoint, cancellationToken).ConfigureAwait(false);
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private static async Task CloseAsync(Task<Socket> late)
    {
        try
        {
            (await late.ConfigureAwait(false)).Dispose();
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException)
        {
            // It lost in another way.
        }
    }
}
