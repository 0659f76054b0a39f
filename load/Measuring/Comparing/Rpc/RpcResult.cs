using System.Text.Json.Serialization;
using Billing.Reporting;

namespace Billing.Measuring.Comparing.Rpc;

/// <summary>What the comparison of remote procedure calls came to, as JSON; the names are part of the interface.</summary>
internal sealed record RpcResult : IResults
{
    /// <summary>How it is kept.</summary>
    public static ResultFormat<RpcResult> Format { get; } = new("compare-rpc", RpcJson.Default.RpcResult, RpcPage.Of);

    /// <summary>How the paper's test is read.</summary>
    public static IReadOnlyList<string> Notes { get; } =
    [
        "Threads are concurrent callers (asynchronous, on the thread pool of one process); each sends the given number of requests, one after the other.",
        "Time is from the start of the first caller to the end of the last, the mean of the runs; the first run of each cell is dropped. The sides run in turn.",
        "Calls per second are threads x requests / time. The paper's TPS is requests / time (its equation 3, without the threads); ratios are the same in both.",
        "Calls per core second are calls over the processor seconds of client and server together, as the kernel accounts them to the nanosecond. Where one side of a cell took less than 0.1 s in all its runs, what the runtime does meanwhile weighs too much, and its ratio is left out.",
        "One connection for all callers and answers on the thread that reads it favour RPCX, and the platform's runtime settings were chosen for the platform: so one cell is measured under other conditions too, on servers of its own.",
        "rpcx and grpc share the given number of connections among the callers; rest has one for every caller. Messages, work and time-outs are the same; gRPC and REST are served by Kestrel, JSON by generated code.",
    ];

    public string Kind { get; init; } = Format.Kind;

    public required RunInfo Run { get; init; }

    /// <summary>Runs of each side in a cell, the dropped one included.</summary>
    public required int Runs { get; init; }

    public required int Connections { get; init; }

    /// <summary>Under which all <see cref="Cells"/> were measured; null in older results.</summary>
    public RpcConditions? Conditions { get; init; }

    public required IReadOnlyList<RpcCell> Cells { get; init; }

    /// <summary>One of the cells under other conditions; empty in older results.</summary>
    public IReadOnlyList<RpcVariant> Variants { get => field ?? []; init; } = [];

    /// <summary>The paper's own figures.</summary>
    public RpcPaper Paper { get; init; } = new();

    // Its times are of whole runs: calls that failed are in them, and each table has a column for those.
    long ILatencies.Failed => 0;

    bool IResults.HasFigures => Cells.Count > 0;

    bool IResults.IsGood => Cells.Count > 0 && Cells.Concat(Variants.Select(v => v.Cell)).All(cell => cell.Sides.All(side => side.Errors == 0));
}

/// <summary>What the paper reports for RPCX against gRPC and OpenFeign, from the least to the most, in percent.</summary>
internal sealed record RpcPaper
{
    /// <summary>Where they are from.</summary>
    public Source Source { get; init; } = Sources.Rpcx;

    public double LessTimePercentMin { get; init; } = 55.9;

    public double LessTimePercentMax { get; init; } = 88.9;

    public double MoreTpsPercentMin { get; init; } = 126.9;

    public double MoreTpsPercentMax { get; init; } = 802.8;
}

/// <summary>So many callers with so many requests each.</summary>
internal sealed record RpcCell(int Threads, int Requests, IReadOnlyList<RpcSide> Sides)
{
    // Ten of the kernel's ticks, some thousands of calls.
    private const double CpuMinS = 0.1;

    /// <summary>One of the sides.</summary>
    public RpcSide Side(string protocol) => Sides.First(s => s.Protocol == protocol);

    /// <summary>How much less time RPCX took than another side, in percent of that side's time; negative where more.</summary>
    public double LessTimePercent(string than) => 100 * (1 - (Side(Protocols.Rpcx).MeanMs / Side(than).MeanMs));

    /// <summary>How many more calls per second RPCX made than another side, in percent; negative where fewer.</summary>
    public double MoreTpsPercent(string than) => 100 * ((Side(Protocols.Rpcx).CallsPerS / Side(than).CallsPerS) - 1);

    /// <summary>Calls per core second of RPCX, over those of another side; null where one of the two took too little processor time to
    /// say.</summary>
    public double? CoreRatio(string than) => Side(Protocols.Rpcx).CpuS >= CpuMinS && Side(than).CpuS >= CpuMinS
        ? Side(Protocols.Rpcx).CallsPerCoreS / Side(than).CallsPerCoreS
        : null;
}

/// <summary>What one side did in a cell, without the run that is dropped.</summary>
internal sealed record RpcSide
{
    public required string Protocol { get; init; }

    /// <summary>Runs that count.</summary>
    public required int Runs { get; init; }

    public required long Calls { get; init; }

    public required long Errors { get; init; }

    public required double MeanMs { get; init; }

    public required double MinMs { get; init; }

    public required double MaxMs { get; init; }

    public required double CallsPerS { get; init; }

    /// <summary>By the paper's equation 3: requests of one caller over the time.</summary>
    public required double PaperTps { get; init; }

    public required double ClientCpuS { get; init; }

    public required double ServerCpuS { get; init; }

    /// <summary>Calls over processor seconds of client and server; 0 where they were too few to be counted.</summary>
    public required double CallsPerCoreS { get; init; }

    /// <summary>Processor seconds of client and server.</summary>
    [JsonIgnore]
    public double CpuS => ClientCpuS + ServerCpuS;

    /// <summary>Sums up the runs that count.</summary>
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
