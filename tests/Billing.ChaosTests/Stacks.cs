using Billing.Chaos;
using Billing.Chaos.Network;
using Billing.LocalStack;
using Billing.LocalStack.Kafka;
using Xunit.Sdk;
using Xunit.v3;

// The tests spend most of their time waiting for recovery, longest with the stack of three brokers.
[assembly: CollectionBehavior(MaxParallelThreads = 2)]
[assembly: TestCollectionOrderer(typeof(Billing.ChaosTests.BrokersFirst))]

namespace Billing.ChaosTests;

/// <summary>Runs the collection that takes longest first.</summary>
public sealed class BrokersFirst : ITestCollectionOrderer
{
    public IReadOnlyCollection<TTestCollection> OrderTestCollections<TTestCollection>(
        IReadOnlyCollection<TTestCollection> testCollections)
        where TTestCollection : ITestCollection =>
        [.. testCollections.OrderByDescending(collection => collection.TestCollectionDisplayName == OverBrokers.Name)];
}

/// <summary>Three brokers, each with a relay for services with a slow network; three proxies, two payment
/// backends, one balance backend; and a card network that delays its answers, so that payments are in flight
/// during every failure.</summary>
public sealed class BrokerStack : StackFixture
{
    public const int Proxies = 3;
    public const int PaymentBackends = 2;
    public const int BalanceBackends = 1;
    public const int Brokers = 3;

    private readonly TcpRelay[] _relays;

    public BrokerStack()
        : this(new TcpRelay[Brokers])
    {
    }

    private BrokerStack(TcpRelay[] relays)
        : base(Options(relays))
    {
        _relays = relays;
        Missing = KafkaPrograms.FindHome() is null
            ? "Kafka is not installed: set KAFKA_HOME to its folder or BILLING_KAFKA_ARCHIVE to its archive"
            : null;
    }

    /// <summary>Returns the addresses through which a client reaches the brokers through relays with this
    /// behaviour.</summary>
    public string RelayedBrokers(RelayBehaviour behaviour)
    {
        var brokers = Stack.Kafka!.RelaysOf(0);
        for (var i = 0; i < _relays.Length; i++)
        {
            _relays[i].Lead(brokers[i], behaviour);
        }
        return string.Join(',', _relays.Select(r => $"127.0.0.1:{r.Port}"));
    }

    private static StackOptions Options(TcpRelay[] relays)
    {
        for (var i = 0; i < relays.Length; i++)
        {
            relays[i] = new TcpRelay();
        }
        return new StackOptions
        {
            Proxies = Proxies,
            PaymentBackends = PaymentBackends,
            BalanceBackends = BalanceBackends,
            Brokers = Brokers,
            BrokerRelayPorts = [[.. relays.Select(r => r.Port)]],
            Jitter = true,
            Settings = ChaosSettings.All,
        };
    }
}

/// <summary>Everything in one process.</summary>
public sealed class OneProcessStack() : StackFixture(new StackOptions
{
    Kafka = "embedded",
    PaymentBackends = 2,
    BalanceBackends = 1,
    Jitter = true,
    Settings = ChaosSettings.All,
});

/// <summary>Everything in one process, which is sometimes stopped, and takes its time over the event store.</summary>
public sealed class PatientStack() : StackFixture(new StackOptions
{
    Kafka = "embedded",
    Jitter = true,
    Settings =
        new Dictionary<string, string>(ChaosSettings.All) { ["Billing__Backend__StoreUnavailableMax"] = "00:01:00" },
});

internal static class ChaosSettings
{
    public static IReadOnlyDictionary<string, string> All { get; } = new Dictionary<string, string>(
        ChaosOptions.ShortJitter)
    {
        // Long enough for a restart of PostgreSQL, short enough for a test to wait for it.
        ["Billing__Backend__StoreUnavailableMax"] = "00:00:03",
    };
}

[CollectionDefinition(Name)]
public sealed class OverBrokers : ICollectionFixture<BrokerStack>
{
    public const string Name = "Over brokers";
}

[CollectionDefinition(Name)]
public sealed class InOneProcess : ICollectionFixture<OneProcessStack>
{
    public const string Name = "In one process";
}

[CollectionDefinition(Name)]
public sealed class InOnePatientProcess : ICollectionFixture<PatientStack>
{
    public const string Name = "In one patient process";
}
