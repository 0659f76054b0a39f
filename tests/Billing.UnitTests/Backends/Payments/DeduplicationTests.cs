using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Payments;
using Billing.Backends.Payments.InFlight;
using Billing.Messaging;
using Billing.UnitTests.Backends.EventStore;
using Billing.UnitTests.Testing;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Backends.Payments;

/// <summary>How commands that are recorded already are found.</summary>
public sealed class DeduplicationTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_receipt_says_nothing_to_the_senders_of_a_partition_that_was_given_up(bool isQuestion)
    {
        var time = new ManualTime();
        var store = new FakeAccountStore();
        var assignment = new PartitionAssignment(new SourcePartition("billing.payments.visa", 0));
        var command = Samples.PaymentCommand();
        if (isQuestion)
        {
            command.PaymentStatus = Samples.Question(command.Payment);
        }
        var pending = new PendingCommand(new RecordingDelivery(command, assignment), "visa/acct-42", 0);
        // An event without a fact: the id is closed.
        store.Receipts[pending.Id] = new();
        assignment.End();
        var deduplication = new Deduplication(
            store, new Ownership(store, new ShardMap([store], time), time, NullLogger<Ownership>.Instance),
            new EventStoreRetry(time), NullLogger<Deduplication>.Instance);

        await deduplication.DeduplicateAsync([pending], CancellationToken.None);

        Assert.True(pending.IsAbandoned);
        Assert.Null(pending.Result);
    }
}
