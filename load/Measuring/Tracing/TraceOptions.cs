namespace Billing.Measuring.Tracing;

/// <summary>One trace.</summary>
internal sealed record TraceOptions
{
    /// <summary>What to run it on, and where the results go.</summary>
    public required MeasuredSystem Subject { get; init; }

    /// <summary>Payments to send.</summary>
    public required int Requests { get; init; }

    /// <summary>Payments per second.</summary>
    public required int Rate { get; init; }

    /// <summary>HTTP/2 connections that share the payments.</summary>
    public int Connections { get; init; } = 4;

    /// <summary>Payments before the traced ones.</summary>
    public int WarmUp { get; init; } = 500;

    /// <summary>Accounts of each payment type.</summary>
    public int Accounts { get; init; } = 2500;

    /// <summary>Decides accounts and amounts.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>Npgsql's connection string of the named proxies' event store; null where it is not known.</summary>
    public string? EventStore => Subject.Targets.Count > 0 && Subject.Stack.Postgres != "auto" ? Subject.Stack.Postgres : null;
}
