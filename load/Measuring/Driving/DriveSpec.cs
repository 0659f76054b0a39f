using System.Text.Json.Serialization;
using Billing.Measuring.Processes;

namespace Billing.Measuring.Driving;

/// <summary>The protocol of the requests.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<DriveProtocol>))]
public enum DriveProtocol
{
    /// <summary>A gRPC call for each request.</summary>
    Unary,

    /// <summary>Payments on one bidirectional gRPC stream per connection.</summary>
    Stream,

    /// <summary>HTTP/1.1 requests in JSON, pipelined.</summary>
    Rest,
}

/// <summary>The load that one worker process generates.</summary>
public sealed record DriveSpec
{
    /// <summary>The protocol of the requests.</summary>
    public DriveProtocol Protocol { get; init; }

    /// <summary>Addresses of the proxies, among which the connections are distributed in turn.</summary>
    public required IReadOnlyList<string> Addresses { get; init; }

    /// <summary>Number of connections.</summary>
    public int Connections { get; init; } = 1;

    /// <summary>Number of requests in flight on each connection in a closed loop: the next request is sent when an answer
    /// arrives.</summary>
    public int InFlight { get; init; } = 1;

    /// <summary>Number of connections, counted from the first, that have one more request in flight.</summary>
    public int WithOneMore { get; init; }

    /// <summary>Every how many gRPC payments one is timed; 0 for none.</summary>
    public int TimedEvery { get; init; }

    /// <summary>Requests per second in an open loop, independent of the answers; 0 for the closed loop.</summary>
    public double RatePerS { get; init; }

    /// <summary>Duration of the warm-up in seconds.</summary>
    public double WarmUpS { get; init; }

    /// <summary>Duration of the measurement in seconds.</summary>
    public double DurationS { get; init; } = 10;

    /// <summary>Number of requests after which the measurement ends early; 0 for no limit.</summary>
    public long Amount { get; init; }

    /// <summary>Number of accounts of each payment type that the requests are distributed over.</summary>
    public int Accounts { get; init; } = 2500;

    /// <summary>Percentage of requests that are balance checks.</summary>
    public int BalancePercent { get; init; }

    /// <summary>The local address that gRPC calls are made from, by which proxies distinguish callers; empty for the system's
    /// choice.</summary>
    public string From { get; init; } = "";

    /// <summary>The certificate file of the authority that gRPC calls trust; empty for the system's authorities.</summary>
    public string CaFile { get; init; } = "";

    /// <summary>The bearer token of gRPC calls; empty for none.</summary>
    public string Token { get; init; } = "";

    /// <summary>Timeout of a request in seconds.</summary>
    public double DeadlineS { get; init; } = 30;

    /// <summary>Seed of the random accounts and amounts.</summary>
    public int Seed { get; init; } = 1;
}

/// <summary>The results of one worker process.</summary>
public sealed record DriveResult
{
    /// <summary>The start of the measurement in microseconds since the Unix epoch.</summary>
    public required long StartedUnixUs { get; init; }

    /// <summary>Seconds from the start to the last answer.</summary>
    public required double ElapsedS { get; init; }

    /// <summary>Number of requests answered; a declined payment is an answer.</summary>
    public required long Ok { get; init; }

    /// <summary>Of these, the number of declined payments.</summary>
    public required long Declined { get; init; }

    /// <summary>Number of failed requests by status.</summary>
    public required IReadOnlyDictionary<string, long> Errors { get; init; }

    /// <summary>Latencies of the requests that were refused with RESOURCE_EXHAUSTED, counted like <see cref="Latencies"/>.
    /// </summary>
    public IReadOnlyList<Measuring.LatencyCount> Refusals { get; init; } = [];

    /// <summary>Latencies of the answered requests; in an open loop from the moment at which each was due.</summary>
    public required IReadOnlyList<Measuring.LatencyCount> Latencies { get; init; }

    /// <summary>Number of answers in each second from the start.</summary>
    public required IReadOnlyList<long> AnswersPerSecond { get; init; }

    /// <summary>The step times of the first 20,000 timed payments, in the format of <see cref="Contracts.StepTimes.ToString"/>.
    /// </summary>
    public IReadOnlyList<string> Timed { get; init; } = [];

    /// <summary>The resources that the worker used while it measured; null if its payments are not timed.</summary>
    public ProgramUse? Worker { get; init; }

    /// <summary>Seconds of processor time that the worker used while it measured.</summary>
    public required double CpuS { get; init; }

    /// <summary>All payments that the worker has sent, those of its warm-up included.</summary>
    public Measuring.SentPayments Payments { get; init; }
}

/// <summary>Serialises the files that the command and its workers exchange.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower)]
[JsonSerializable(typeof(DriveSpec))]
[JsonSerializable(typeof(DriveResult))]
internal sealed partial class DriveJson : JsonSerializerContext;
