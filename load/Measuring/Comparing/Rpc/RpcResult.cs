using System.Text.Json.Serialization;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Rpc;

/// <summary>The result of the comparison of remote procedure calls, as JSON; the names are part of the interface.</summary>
internal sealed record RpcResult : IResults
{
    /// <summary>The format of the result file.</summary>
    public static ResultFormat<RpcResult> Format { get; } = new("compare-rpc", RpcJson.Default.RpcResult, RpcPage.Of);

    /// <summary>How the paper's test is interpreted.</summary>
    public static IReadOnlyList<string> Notes { get; } =
    [
        "Threads are concurrent callers (asynchronous, on the thread pool of one process); each sends the given number of requests in sequence.",
        "Time is measured from the start of the first caller to the end of the last, as the mean of the runs; the first run of each configuration is dropped. The sides alternate.",
        "Calls per second are threads x requests / time. The paper's TPS is requests / time (its equation 3, without the threads); the ratios are the same for both.",
        "Calls per core second are calls divided by the processor seconds of client and server together, which the kernel accounts with nanosecond precision. If one side of a configuration took less than 0.1 s in all its runs, background work of the runtime distorts the figure, and the ratio is left out.",
        "A single connection for all callers, and answers on the thread that reads it, favour RPCX; the runtime settings were chosen for the platform. Therefore one configuration is also measured under other conditions, on separate servers.",
        "With rpcx and grpc, the callers share the given number of connections; with rest, each caller has its own. Messages, work and timeouts are the same. Kestrel serves gRPC and REST; generated code serialises JSON.",
    ];

    public string Kind { get; init; } = Format.Kind;

    public required RunInfo Run { get; init; }

    /// <summary>Runs of each side in a configuration, including the dropped one.</summary>
    public required int Runs { get; init; }

    public required int Connections { get; init; }

    /// <summary>The conditions of all <see cref="Cells"/>; null in older results.</summary>
    public RpcConditions? Conditions { get; init; }

    public required IReadOnlyList<RpcCell> Cells { get; init; }

    /// <summary>One of the configurations under other conditions; empty in older results.</summary>
    public IReadOnlyList<RpcVariant> Variants { get => field ?? []; init; } = [];

    /// <summary>The paper's own figures.</summary>
    public RpcPaper Paper { get; init; } = new();

    // The times are those of whole runs, which include failed calls; each table has a column for these.
    long ILatencies.Failed => 0;

    bool IResults.HasFigures => Cells.Count > 0;

    bool IResults.IsGood => Cells.Count > 0 && Cells.Concat(Variants.Select(v => v.Cell)).All(cell => cell.Sides.All(side => side.Errors == 0));
}

/// <summary>The paper's figures for RPCX compared with gRPC and OpenFeign, minimum and maximum, in percent.</summary>
internal sealed record RpcPaper
{
    /// <summary>The source of the figures.</summary>
    public Source Source { get; init; } = Sources.Rpcx;

    public double LessTimePercentMin { get; init; } = 55.9;

    public double LessTimePercentMax { get; init; } = 88.9;

    public double MoreTpsPercentMin { get; init; } = 126.9;

    public double MoreTpsPercentMax { get; init; } = 802.8;
}

/// <summary>One configuration: a number of callers and a number of requests per caller.</summary>
internal sealed record RpcCell(int Threads, int Requests, IReadOnlyList<RpcSide> Sides)
{
    // Ten ticks of the kernel, some thousands of calls.
    private const double CpuMinS = 0.1;

    /// <summary>The side of a protocol.</summary>
    public RpcSide Side(string protocol) => Sides.First(s => s.Protocol == protocol);

    /// <summary>How much less time RPCX took than another side, in percent of that side's time; negative if it took more.
    /// </summary>
    public double LessTimePercent(string than) => 100 * (1 - (Side(Protocols.Rpcx).MeanMs / Side(than).MeanMs));

    /// <summary>How many more calls per second RPCX made than another side, in percent; negative if it made fewer.</summary>
    public double MoreTpsPercent(string than) => 100 * ((Side(Protocols.Rpcx).CallsPerS / Side(than).CallsPerS) - 1);

    /// <summary>Calls per core second of RPCX divided by those of another side; null if one of the two took too little processor
    /// time for a meaningful ratio.</summary>
    public double? CoreRatio(string than) => Side(Protocols.Rpcx).CpuS >= CpuMinS && Side(than).CpuS >= CpuMinS
        ? Side(Protocols.Rpcx).CallsPerCoreS / Side(than).CallsPerCoreS
        : null;
}

/// <summary>The figures of one side in a configuration, without the dropped run.</summary>
internal sealed record RpcSide
{
    public required string Protocol { get; init; }

    /// <summary>Number of runs without the dropped one.</summary>
    public required int Runs { get; init; }

    public required long Calls { get; init; }

    public required long Errors { get; init; }

    public required double MeanMs { get; init; }

    public required double MinMs { get; init; }

    public required double MaxMs { get; init; }

    public required double CallsPerS { get; init; }

    /// <summary>By the paper's equation 3: requests of one caller divided by the time.</summary>
    public required double PaperTps { get; init; }

    public required double ClientCpuS { get; init; }

    public required double ServerCpuS { get; init; }

    /// <summary>Calls per processor second of client and server; 0 if the processor time was too short to be measured.</summary>
    public required double CallsPerCoreS { get; init; }

    /// <summary>Processor seconds of client and server.</summary>
    [JsonIgnore]
    public double CpuS => ClientCpuS + ServerCpuS;

    /// <summary>Summarises the runs without the dropped one.</summary>
    public static RpcSide Of(string protocol, int requests, IReadOnlyList<RpcRun> runs)
    {
        var (calls, cpu) = (runs.Sum(r => r.Calls), runs.Sum(r => r.ClientCpuS + r.ServerCpuS));
        var mean = runs.Average(r => r.TimeMs);
        return new RpcSide
        {
            Protocol = protocol,
            Runs = runs.Count,
            Calls = calls,
            Errors = runs.Sum(r => r.Errors),
            MeanMs = mean,
            MinMs = runs.Min(r => r.TimeMs),
            MaxMs = runs.Max(r => r.TimeMs),
            CallsPerS = calls / runs.Sum(r => r.TimeMs) * 1_000,
            PaperTps = requests / mean * 1_000,
            ClientCpuS = runs.Sum(r => r.ClientCpuS),
            ServerCpuS = runs.Sum(r => r.ServerCpuS),
            CallsPerCoreS = cpu > 0 ? calls / cpu : 0,
        };
    }
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(RpcResult))]
internal sealed partial class RpcJson : JsonSerializerContext;
