using Billing.Hosting;
using Billing.Messaging.Requests;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Memory;

/// <summary>What a proxy may hold of what callers send and do not take, by kind: shares of the memory of the process.
/// What is left is for the runtime, for replies that have just come, and for garbage that is not collected yet. Each
/// thing counts with what it takes at worst, in bytes, which MemoryOfProxiesTests measures.</summary>
internal sealed class ProxyMemory
{
    /// <summary>A connection: the buffers of its socket, of TLS and of the compression of headers.</summary>
    public const int ConnectionBytes = 64 * 1024;

    /// <summary>An open request with an ordinary message and an ordinary answer, besides its headers.</summary>
    public const int RequestBytes = 10 * 1024;

    /// <summary>A page of a statement: the reply, its entries, the answer's and the answer, each about as large as the
    /// entries are on the wire, the entries twice.</summary>
    public const int PageBytes = 5 * RequestKinds.StatementBytesMax;

    /// <summary>A call whose command waits for its reply, with a message of up to <see cref="MessageBytes"/>.</summary>
    public const int CallBytes = 4 * 1024;

    /// <summary>The size of a message that one place of a call is enough for: eight times as many bytes are kept of
    /// it.</summary>
    public const int MessageBytes = CallBytes / 8;

    private readonly MemoryBudget _budget;

    /// <param name="budget">The memory of the process.</param>
    /// <param name="options">The most connections and calls, however much memory there is.</param>
    public ProxyMemory(MemoryBudget budget, IOptions<ProxyOptions> options)
    {
        _budget = budget;
        Connections = new MemoryPart(
            "connections", Math.Min(budget.Share(10), (long)options.Value.ConnectionsMax * ConnectionBytes));
        Requests = Part("requests", 25);
        Bodies = Part("bodies", 10);
        Answers = Part("answers", 10);
        Calls = budget.Fitting(15, CallBytes, options.Value.InFlightMax);
    }

    /// <summary>Connections, by address.</summary>
    public MemoryPart Connections { get; }

    /// <summary>Open requests until their answers are sent, by address: also those that are refused.</summary>
    public MemoryPart Requests { get; }

    /// <summary>Messages of which a part has come, and windows of streams, by caller.</summary>
    public MemoryPart Bodies { get; }

    /// <summary>Pages of statements until they are sent, by caller.</summary>
    public MemoryPart Answers { get; }

    /// <summary>How many calls may wait for replies: each has <see cref="CallBytes"/>.</summary>
    public int Calls { get; }

    /// <summary>The parts that are shared out by bytes.</summary>
    public IReadOnlyList<MemoryPart> Parts => [Connections, Requests, Bodies, Answers];

    /// <summary>The places that a call with a message of so many bytes takes: at least one.</summary>
    public static int PlacesOf(int messageBytes) => 1 + (messageBytes / MessageBytes);

    /// <summary>The parts with their sizes, for the log.</summary>
    public override string ToString() =>
        $"of {MemoryBudget.Text(_budget.Bytes)}: "
        + string.Join(", ", Parts.Select(part => $"{part.Name} {MemoryBudget.Text(part.Bytes)}"))
        + $", {Calls} calls {MemoryBudget.Text((long)Calls * CallBytes)}";

    private MemoryPart Part(string name, int percent) => new(name, _budget.Share(percent));
}
