using Billing.Backends;
using Billing.Backends.Balances;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Messaging;
using Billing.UnitTests.Backends.EventStore;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Backends.Balances;

/// <summary>Requests that are answered from the event store.</summary>
public sealed class StoredReadsTests
{
    [Fact]
    public async Task A_reader_that_fails_ends_all_readers_so_that_the_process_fails()
    {
        var time = new ManualTime();
        var replier = new Replier(null!, Supervision.New(), NullLogger<Replier>.Instance);
        var reads = new StoredReads(
            Command.RequestOneofCase.Payment, (_, _, _) => throw new InvalidDataException("poison"),
            new ShardMap([new FakeAccountStore()], time), replier, new EventStoreRetry(time), time,
            NullLogger<StoredReads>.Instance);
        var running = reads.RunAsync(CancellationToken.None);

        reads.Accept(new UnrejectableDelivery(Samples.PaymentCommand(correlationId: 7)));

        await Assert.ThrowsAsync<NotSupportedException>(() => running.WaitAsync(TimeSpan.FromMinutes(1)));
    }

    private sealed class UnrejectableDelivery(Command command) : Delivery(command, new PartitionAssignment(new("t", 0)))
    {
        public override void Settle() => throw new NotSupportedException();

        public override void Reject(string reason) => throw new NotSupportedException();
    }
}
