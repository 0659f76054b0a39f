using System.Text.Json.Serialization;
using Billing.Auditing;
using Billing.Measuring.Processes;
using Billing.Measuring.Tracing;
using Billing.Reporting;

namespace Billing.Measuring.Profiling;

/// <summary>The time and the costs of one payment, as JSON; the names are part of the interface.</summary>
internal sealed record ProfileResult : IResults
{
    /// <summary>The format of the results.</summary>
    public static ResultFormat<ProfileResult> Format { get; } = new("profile", ProfileJson.Default.ProfileResult, ProfilePage.Of);

    public string Kind { get; init; } = Format.Kind;
    public required RunInfo Run { get; init; }
    public required int Proxies { get; init; }
    public required int PaymentBackends { get; init; }
    public required int BalanceBackends { get; init; }
    public required int Partitions { get; init; }
    public required int Databases { get; init; }

    /// <summary>The figures that could not be measured, with the reasons.</summary>
    public required IReadOnlyList<string> Missing { get; init; }

    /// <summary>The figures for each number in flight, in the order of measurement.</summary>
    public required IReadOnlyList<ProfileCase> Cases { get; init; }

    /// <summary>The audit of the stack.</summary>
    public required IReadOnlyList<AuditCounts> Audits { get; init; }

    long ILatencies.Failed => Cases.Sum(c => c.Failed);

    bool IResults.HasFigures => Cases.Count > 0;

    bool IResults.IsGood => StoreAudit.AreClean(Audits) && Cases.Count > 0 && Cases.All(c => c.Failed == 0);
}

/// <summary>The figures for one number of payments in flight. All costs are per payment.</summary>
internal sealed record ProfileCase
{
    public required int InFlight { get; init; }
    public required double DurationS { get; init; }
    public required long Payments { get; init; }
    public required long Failed { get; init; }
    public required double PerSecond { get; init; }

    [JsonPropertyName("p50_ms")]
    public required double P50Ms { get; init; }

    [JsonPropertyName("p99_ms")]
    public required double P99Ms { get; init; }

    /// <summary>The legs of the timed payments, as in a trace.</summary>
    public required IReadOnlyList<LegSummary> Steps { get; init; }

    /// <summary>The resources used by each role: client, proxy, payments, balances, kafka, postgres.</summary>
    public required IReadOnlyList<ProgramUse> Programs { get; init; }

    public required DatabaseUse Database { get; init; }

    public required BrokerCounts Broker { get; init; }

    /// <summary>The waits within the Kafka clients of each role.</summary>
    public required IReadOnlyList<ClientWaits> Clients { get; init; }
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(ProfileResult))]
internal sealed partial class ProfileJson : JsonSerializerContext;
