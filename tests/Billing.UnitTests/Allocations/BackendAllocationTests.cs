using System.Globalization;
using Billing.Backends;
using Billing.Backends.CardNetwork;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Payments;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.UnitTests.Testing;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Allocations;

/// <summary>The memory that a payment backend allocates per payment, from <see cref="PaymentProcessor.Accept"/> until
/// it is settled, with an empty store and a producer that acknowledges at once.</summary>
public sealed class BackendAllocationTests
{
    // 2 % and 15 % above the measured values: 3,388 bytes per payment in batches of sixteen, 8,904 in batches of one.
    // If the measured values fall, lower these limits too.
    private const double MaxInBatchesOfSixteen = 3_450;
    private const double MaxInBatchesOfOne = 10_240;

    [Theory]
    [InlineData(16, MaxInBatchesOfSixteen)]
    [InlineData(1, MaxInBatchesOfOne)]
    public void A_payment_allocates_no_more_than_the_limit(int batchSize, double max)
    {
        var thread = new SingleThreadContext();
        var time = new ManualTime();
        using var supervisor = Supervision.New();
        using var stopping = new CancellationTokenSource();
        using var producer = new AcknowledgingProducer();
        using var publisher = new KafkaAnswerPublisher(producer, producer, time, NullLogger.Instance);
        using var network = new SimulatedCardNetwork(Options.Create(new JitterOptions { Enabled = false }), time);
        var options = Options.Create(
            new BackendOptions { OpeningLimits = { ["USD"] = "10000" }, CachedAccountsMax = 200_000 });
        var store = new EmptyStore();
        var retry = new EventStoreRetry(time);
        var replier = new Replier(publisher, supervisor, NullLogger<Replier>.Instance);
        using var processor = new PaymentProcessor(
            new ShardMap([store], time), network, replier, retry, options,
            supervisor, time, NullLoggerFactory.Instance);
        var rounds = Enumerable.Range(0, 200).Select(_ => Deliveries(Math.Max(64, batchSize), batchSize)).ToList();
        Task? running = null;
        thread.Run(() => running = processor.RunAsync(stopping.Token));

        var bytes = thread.BytesPerPayment(Math.Max(64, batchSize), round =>
        {
            foreach (var batch in rounds[round])
            {
                thread.Run(() => processor.Accept(batch));
            }
        });

        Assert.All(
            rounds.Take(121).SelectMany(round => round).SelectMany(batch => batch),
            delivery => Assert.True(((RecordingDelivery)delivery).IsSettled));
        Assert.True(producer.Count > 0);
        Assert.False(running!.IsCompleted);
        thread.Run(stopping.Cancel);
        Assert.InRange(bytes, 1, max);
    }

    private static List<IReadOnlyList<Delivery>> Deliveries(int payments, int batchSize) =>
    [
        .. Enumerable.Range(0, payments).Select(n =>
        {
            var command = Samples.PaymentCommand(
                string.Create(CultureInfo.InvariantCulture, $"acct-{n}"), correlationId: (ulong)n);
            command.TransactionId = command.Payment.TransactionId = Guid.NewGuid().ToString();
            return new RecordingDelivery(command);
        }).Chunk(batchSize),
    ];
}
