namespace Billing.Measuring.Tracing;

/// <summary>The options of a trace.</summary>
internal sealed record TraceOptions
{
    /// <summary>The system to trace, and the folder of the results.</summary>
    public required MeasuredSystem Subject { get; init; }

    /// <summary>Number of payments to send.</summary>
    public required int Requests { get; init; }

    /// <summary>Payments per second.</summary>
    public required int Rate { get; init; }

    /// <summary>Number of HTTP/2 connections that the payments are distributed over.</summary>
    public int Connections { get; init; } = 4;

    /// <summary>Number of payments of the warm-up.</summary>
    public int WarmUp { get; init; } = 500;

    /// <summary>Number of accounts of each payment type.</summary>
    public int Accounts { get; init; } = 2500;

    /// <summary>Seed of the random accounts and amounts.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>Npgsql connection string of the event store behind the target proxies;
    /// null if it was not given.</summary>
    public string? EventStore =>
        Subject.Targets.Count > 0 && Subject.Stack.Postgres != "auto" ? Subject.Stack.Postgres : null;
}
