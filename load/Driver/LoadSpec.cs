using System.Text.Json.Serialization;

namespace Billing.Driver;

/// <summary>How requests are sent.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<LoadProtocol>))]
public enum LoadProtocol
{
    /// <summary>Through the SDK, over all proxies in turn, with its retries.</summary>
    Sdk,

    /// <summary>A gRPC call for each request, without retries.</summary>
    Unary,

    /// <summary>Payments on one bulk stream of the SDK per connection.</summary>
    Stream,

    /// <summary>HTTP/1.1 requests in JSON, pipelined.</summary>
    Rest,
}

/// <summary>The load that one driver generates.</summary>
public sealed record LoadSpec
{
    /// <summary>Addresses of the proxies, among which the connections are distributed in turn.</summary>
    public required IReadOnlyList<string> Addresses { get; init; }

    /// <summary>When requests are sent.</summary>
    public required LoadShape Shape { get; init; }

    /// <summary>How they are sent.</summary>
    public LoadProtocol Protocol { get; init; }

    /// <summary>Number of connections; of <see cref="LoadProtocol.Sdk"/>, of clients, each with
    /// connections to all proxies.</summary>
    public int Connections { get; init; } = 1;

    /// <summary>The file, in PEM, of the authorities that may have signed the proxies' certificates; null for those
    /// that the machine trusts. Over <see cref="LoadProtocol.Sdk"/> and <see cref="LoadProtocol.Stream"/>.</summary>
    public string? CaFile { get; init; }

    /// <summary>The file of the token that identifies the caller, which is read once; null for none. Over
    /// <see cref="LoadProtocol.Sdk"/> and <see cref="LoadProtocol.Stream"/>.</summary>
    public string? TokenFile { get; init; }

    /// <summary>The load before the measured one, which opens the connections and lets the runtime compile the code;
    /// null for none. It is journalled and not measured.</summary>
    public LoadShape? WarmUp { get; init; }

    /// <summary>Number of accounts of each payment type that the requests are distributed over.</summary>
    public int Accounts { get; init; } = 2500;

    /// <summary>The prefix of the accounts' ids, followed by their numbers, from 0.</summary>
    public string AccountPrefix { get; init; } = RandomRequests.DefaultPrefix;

    /// <summary>The names of the payment types, e.g. <c>VISA</c>; empty for all.</summary>
    public IReadOnlyList<string> PaymentTypes { get; init; } = [];

    /// <summary>Percentage of requests that are balance checks; those of a burst have their own number.</summary>
    public int BalancePercent { get; init; }

    /// <summary>Percentage of payments that are followed by a balance check that must include them.</summary>
    public int ReadBackPercent { get; init; }

    /// <summary>Percentage of payments that are not only made: they are authorised, captured, voided, given back and
    /// looked up. Only over <see cref="LoadProtocol.Sdk"/>.</summary>
    public int LifePercent { get; init; }

    /// <summary>How long those that are authorised are on hold, one of these in seconds;
    /// 0 for the platform's default.</summary>
    public IReadOnlyList<int> HoldSeconds { get; init; } = [0];

    /// <summary>Percentage of payments with notes, which what is done with them has as well. Not over
    /// <see cref="LoadProtocol.Rest"/>.</summary>
    public int NotesPercent { get; init; }

    /// <summary>Percentage of payments in euros instead of dollars: they are declined if the account
    /// is kept in dollars.</summary>
    public int OtherCurrencyPercent { get; init; }

    /// <summary>Whether the steps of payments are timed; only over <see cref="LoadProtocol.Sdk"/>.</summary>
    public bool IsTimed { get; init; }

    /// <summary>Timeout of a request in seconds.</summary>
    public double DeadlineS { get; init; } = 30;

    /// <summary>Number of retries of a call by the SDK; null for its default.</summary>
    public int? RetriesMax { get; init; }

    /// <summary>Most payments in flight on one bulk stream.</summary>
    public int StreamWindow { get; init; } = 256;

    /// <summary>Seed of the random accounts and amounts; transaction ids do not depend on it.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>The file for the journal of payments and balances; null for none.</summary>
    public string? Journal { get; init; }
}

/// <summary>When the requests of a load are sent.</summary>
[JsonPolymorphic(TypeDiscriminatorPropertyName = "shape")]
[JsonDerivedType(typeof(Burst), "burst")]
[JsonDerivedType(typeof(Closed), "closed")]
[JsonDerivedType(typeof(Open), "open")]
public abstract record LoadShape
{
    // As a bound for a platform that does not answer; JSON has no infinity.
    private const double WarmUpMaxS = 3600;

    // Enough concurrent requests to open every connection.
    private const int WarmUpCallers = 64;

    private LoadShape()
    {
    }

    /// <summary>A warm-up of a number of payments; null for none.</summary>
    public static LoadShape? WarmUpOf(int payments) =>
        payments == 0 ? null : new Closed(Math.Min(payments, WarmUpCallers), WarmUpMaxS) { Amount = payments };

    /// <summary>All requests at once. They are due at that moment, however long the sender takes:
    /// latencies count from there, too.</summary>
    /// <param name="Balances">Number of balance checks.</param>
    public sealed record Burst(int Payments, int Balances = 0) : LoadShape;

    /// <summary>A number of callers, each of which sends its next request when it has its answer.</summary>
    /// <param name="Callers">Number of callers, distributed over the connections in turn.</param>
    /// <param name="DurationS">Seconds after which no further request is sent.</param>
    public sealed record Closed(int Callers, double DurationS) : LoadShape
    {
        /// <summary>Number of requests after which sending ends early; 0 for no limit.</summary>
        public long Amount { get; init; }

        /// <summary>Most requests per second of all callers together; 0 for no limit.</summary>
        public double RatePerS { get; init; }

        /// <summary>Number of requests of each caller; 0 for no limit.</summary>
        public long AmountOfEach { get; init; }
    }

    /// <summary>Requests at given times, independent of the answers: latencies count from the moment at
    /// which each is due.</summary>
    /// <param name="Phases">The phases, one after the other.</param>
    public sealed record Open(params IReadOnlyList<Phase> Phases) : LoadShape
    {
        /// <summary>Creates a constant rate.</summary>
        public static Open At(double perS, double durationS) => new(new Phase("", durationS, perS, perS));
    }
}

/// <summary>A part of an open load with a constant rate, or one that changes linearly.</summary>
/// <param name="Name">Its name in the results.</param>
/// <param name="DurationS">Its duration in seconds.</param>
/// <param name="FromPerS">Requests per second at its beginning.</param>
/// <param name="ToPerS">Requests per second at its end.</param>
public sealed record Phase(string Name, double DurationS, double FromPerS, double ToPerS);
