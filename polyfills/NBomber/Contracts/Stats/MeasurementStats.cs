// As in the genuine records, a member that nobody has set is null, whatever its type says.
namespace NBomber.Contracts.Stats;

public sealed class StatusCodeStats
{
    public string StatusCode { get; set; } = null!;

    public bool IsError { get; set; }

    public string Message { get; set; } = null!;

    public int Count { get; set; }

    public int Percent { get; set; }
}

public sealed class RequestStats
{
    public int Count { get; set; }

    public double RPS { get; set; }

    public int Percent { get; set; }
}

public sealed class LatencyCount
{
    public int LessOrEq800 { get; set; }

    public int More800Less1200 { get; set; }

    public int MoreOrEq1200 { get; set; }
}

public sealed class LatencyStats
{
    public double MinMs { get; set; }

    public double MeanMs { get; set; }

    public double MaxMs { get; set; }

    public double Percent50 { get; set; }

    public double Percent75 { get; set; }

    public double Percent95 { get; set; }

    public double Percent99 { get; set; }

    public double StdDev { get; set; }

    public LatencyCount LatencyCount { get; set; } = null!;
}

public sealed class DataTransferStats
{
    public long MinBytes { get; set; }

    public long MeanBytes { get; set; }

    public long MaxBytes { get; set; }

    public long Percent50 { get; set; }

    public long Percent75 { get; set; }

    public long Percent95 { get; set; }

    public long Percent99 { get; set; }

    public double StdDev { get; set; }

    public long AllBytes { get; set; }
}

public sealed class MeasurementStats
{
    public RequestStats Request { get; set; } = null!;

    public LatencyStats Latency { get; set; } = null!;

    public DataTransferStats DataTransfer { get; set; } = null!;

    public StatusCodeStats[] StatusCodes { get; set; } = null!;
}

public sealed class StepStats
{
    public string StepName { get; set; } = null!;

    public MeasurementStats Ok { get; set; } = null!;

    public MeasurementStats Fail { get; set; } = null!;

    public int SortIndex { get; set; }
}
