using System.Text.Json.Serialization;

namespace Billing.Measuring.Driving;

/// <summary>How requests reach the platform.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<DriveProtocol>))]
public enum DriveProtocol
{
    /// <summary>A gRPC call for each request.</summary>
    Unary,

    /// <summary>Payments on one bidirectional gRPC stream a connection.</summary>
    Stream,

    /// <summary>HTTP/1.1 requests in JSON, pipelined.</summary>
    Rest,
}

/// <summary>What one worker process sends, and how.</summary>
public sealed record DriveSpec
{
    /// <summary>How requests travel.</summary>
    public DriveProtocol Protocol { get; init; }

    /// <summary>Where to; connections go to each in turn.</summary>
    public required IReadOnlyList<string> Addresses { get; init; }

    /// <summary>Connections.</summary>
    public int Connections { get; init; } = 1;

    /// <summary>Requests under way at the same time on each connection, in a closed loop: a new one goes out when an answer
    /// comes.</summary>
    public int InFlight { get; init; } = 1;

    /// <summary>How many of the connections, the first ones, have one request more in flight.</summary>
    public int WithOneMore { get; init; }

    /// <summary>Of how many gRPC payments one is timed; 0 for none.</summary>
    public int TimedEvery { get; init; }

    /// <summary>Requests per second in an open loop, whatever comes back; 0 for the closed loop.</summary>
    public double RatePerS { get; init; }

    /// <summary>Seconds before the measured ones.</summary>
    public double WarmUpS { get; init; }

    /// <summary>Seconds that are measured.</summary>
    public double DurationS { get; init; } = 10;

    /// <summary>Requests after which it ends before the time is up; 0 for no such end.</summary>
    public long Amount { get; init; }

    /// <summary>Accounts that the requests go to, of each payment type.</summary>
    public int Accounts { get; init; } = 2500;

    /// <summary>How many of a hundred requests are balance checks.</summary>
    public int BalancePercent { get; init; }

    /// <summary>The address of this machine that gRPC calls come from: proxies tell callers apart by it. Empty: the system's
    /// choice.</summary>
    public string From { get; init; } = "";

    /// <summary>The certificate of the authority that gRPC calls trust; empty: those of the system.</summary>
    public string CaFile { get; init; } = "";

    /// <summary>The token that gRPC calls come with; empty for none.</summary>
    public string Token { get; init; } = "";

    /// <summary>Seconds that a request may take.</summary>
    public double DeadlineS { get; init; } = 30;

    /// <summary>Seed of accounts and amounts.</summary>
    public int Seed { get; init; } = 1;
}

/// <summary>What came of it.</summary>
public sealed record DriveResult
{
    /// <summary>Microseconds since the Unix epoch at which measuring began.</summary>
    public required long StartedUnixUs { get; init; }

    /// <summary>Seconds from there to the last answer that counts.</summary>
    public required double ElapsedS { get; init; }

    /// <summary>Requests answered; a declined payment is an answer.</summary>
    public required long Ok { get; init; }

    /// <summary>Of these, payments declined.</summary>
    public required long Declined { get; init; }

    /// <summary>Requests that failed, by status.</summary>
    public required IReadOnlyDictionary<string, long> Errors { get; init; }

    /// <summary>How long it took to refuse those that were refused with RESOURCE_EXHAUSTED; likewise.</summary>
    public IReadOnlyList<Measuring.LatencyCount> Refusals { get; init; } = [];

    /// <summary>How long the answered requests took; in an open loop from the moment each was due.</summary>
    public required IReadOnlyList<Measuring.LatencyCount> Latencies { get; init; }

    /// <summary>Answers in each second from the start.</summary>
    public required IReadOnlyList<long> AnswersPerSecond { get; init; }

    /// <summary>When the steps of the timed payments were taken, as <see cref="Contracts.StepTimes.ToString"/> has them; of the
    /// first 20,000.</summary>
    public IReadOnlyList<string> Timed { get; init; } = [];

    /// <summary>What the worker itself used while measuring, where its payments are timed.</summary>
    public Measuring.ProgramUse? Worker { get; init; }

    /// <summary>Processor seconds that the worker itself used while measuring.</summary>
    public required double CpuS { get; init; }
}

/// <summary>Serialises what goes between the command and its workers.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower)]
[JsonSerializable(typeof(DriveSpec))]
[JsonSerializable(typeof(DriveResult))]
internal sealed partial class DriveJson : JsonSerializerContext;
