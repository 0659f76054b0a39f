using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;

namespace Billing.Client;

/// <summary>The proxies behind one name, <c>dns:///name:port</c>: one for each address that DNS answers.
/// Calls start a look-up where one is due; nothing runs without calls. Thread-safe.</summary>
/// <param name="name">The name.</param>
/// <param name="resolve">Looks its addresses up.</param>
/// <param name="connect">Creates the proxy at an address.</param>
/// <param name="time">The clock.</param>
/// <param name="log">The log.</param>
internal sealed class NamedProxies(
    string name, Func<string, CancellationToken, Task<IPAddress[]>> resolve,
    Func<IPAddress, NamedProxies, Proxy> connect, TimeProvider time, ILogger log)
{
    private static readonly TimeSpan RefreshAfter = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan RefreshAfterFailure = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private Proxy[] _proxies = [];
    private Task _resolving = Task.CompletedTask;
    private long? _resolvedAt;
    private volatile bool _isDoubtful;

    /// <summary>The proxies at the addresses of the last answer; empty before the first.</summary>
    public IReadOnlyList<Proxy> All => Volatile.Read(ref _proxies);

    /// <summary>Why the last look-up failed; null if it did not.</summary>
    public string? Failure { get; private set; }

    /// <summary>Has the name looked up soon, because one of its proxies is away.</summary>
    public void Doubt() => _isDoubtful = true;

    /// <summary>Starts a look-up if one is due, and completes, without an exception, when there are addresses
    /// or it has failed.</summary>
    public Task ReadyAsync()
    {
        lock (_gate)
        {
            if (_resolving.IsCompleted && IsDue())
            {
                _resolving = ResolveAsync();
            }
            return _proxies.Length > 0 ? Task.CompletedTask : _resolving;
        }
    }

    private bool IsDue() =>
        _resolvedAt is not { } at || time.GetElapsedTime(at) >= (_isDoubtful ? RefreshAfterFailure : RefreshAfter);

    private async Task ResolveAsync()
    {
        try
        {
            var addresses = await resolve(name, CancellationToken.None).ConfigureAwait(false);
            if (addresses.Length == 0)
            {
                throw new SocketException((int)SocketError.NoData, "the answer is empty");
            }
            // A proxy that is gone is not disposed of, which would cancel its calls:
            // its connections close when they are idle.
            Volatile.Write(ref _proxies, [.. addresses.Distinct().Select(
                address => Array.Find(_proxies, proxy => address.Equals(proxy.Ip)) ?? connect(address, this))]);
            (Failure, _isDoubtful) = (null, false);
        }
        catch (Exception e) when (e is SocketException or ArgumentException)
        {
            // The addresses known are better than none, and a call may be choosing among them.
            (Failure, _isDoubtful) = (e.Message, true);
            log.LookUpFailed(name, e.Message);
        }
        _resolvedAt = time.GetTimestamp();
    }
}

/// <summary>An address of the form <c>dns:///name:port</c>.</summary>
internal static class ProxyName
{
    private const string Prefix = "dns:///";

    public static bool Is(string address) => address.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase);

    /// <summary>Returns the address of the proxies behind the name; null if it is not valid.</summary>
    public static Uri? Parse(string address, bool isPlaintext) =>
        Uri.TryCreate($"{(isPlaintext ? "http" : "https")}://{address[Prefix.Length..]}", UriKind.Absolute, out var uri)
        && uri.Host.Length > 0 && uri is { PathAndQuery: "/", UserInfo: "" }
            ? uri
            : null;
}
