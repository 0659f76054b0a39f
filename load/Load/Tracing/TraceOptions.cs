using System.Globalization;
using Billing.Cli.Topology;

namespace Billing.Load.Tracing;

/// <summary>One trace.</summary>
internal sealed record TraceOptions
{
    /// <summary>What to run it on, where no proxies are named.</summary>
    public required StackOptions Stack { get; init; }

    /// <summary>Proxies that run already; none to start a stack.</summary>
    public IReadOnlyList<string> Targets { get; init; } = [];

    /// <summary>Payments to send.</summary>
    public required int Requests { get; init; }

    /// <summary>Payments a second.</summary>
    public required int Rate { get; init; }

    /// <summary>HTTP/2 connections that share the payments.</summary>
    public int Connections { get; init; } = 4;

    /// <summary>Payments before the traced ones.</summary>
    public int WarmUp { get; init; } = 500;

    /// <summary>Accounts of each payment type.</summary>
    public int Accounts { get; init; } = 2500;

    /// <summary>Decides accounts and amounts.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>The folder for the results.</summary>
    public required string Out { get; init; }

    /// <summary>Npgsql's connection string of the named proxies' event store; null where it is not known.</summary>
    public string? EventStore => Targets.Count > 0 && Stack.Postgres != "auto" ? Stack.Postgres : null;

    /// <summary>The command that does the same again, without what may be secret.</summary>
    public string Command => string.Create(
        CultureInfo.InvariantCulture,
        $"./billing trace --requests {Requests} --rate {Rate} --connections {Connections} --warm-up {WarmUp} --accounts {Accounts} --seed {Seed}{Where}");

    private string Where => Targets.Count > 0
        ? " --targets " + string.Join(',', Targets)
        : string.Create(
            CultureInfo.InvariantCulture,
            $" --proxies {Stack.Proxies} --payment-backends {Stack.PaymentBackends} --balance-backends {Stack.BalanceBackends} --brokers {Stack.Brokers} --jitter {(Stack.Jitter ? "on" : "off")} --kafka {Stack.Kafka}");
}
