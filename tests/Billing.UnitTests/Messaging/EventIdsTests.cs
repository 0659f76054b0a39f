using Billing.Backends.EventStore;
using Billing.Messaging;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;

namespace Billing.UnitTests.Messaging;

public sealed class EventIdsTests
{
    private static readonly Event Recorded =
        new() { StreamId = "visa/acct-42", Version = 7, TransactionId = Samples.TransactionId };

    [Fact]
    public void A_published_event_has_the_id_under_which_the_store_holds_it_wherever_it_stands()
    {
        var moved = Recorded.Clone();
        moved.Version = 8;

        Assert.Equal(new CommandId(Guid.Parse(Samples.TransactionId), "visa/acct-42").EventId, EventIds.Of(Recorded));
        Assert.Equal(EventIds.Of(Recorded), EventIds.Of(moved));
    }

    [Fact]
    public void A_command_that_was_lost_by_a_restore_and_is_recorded_again_has_another_event()
    {
        var again = Recorded.Clone();
        again.Incarnation = 2;

        Assert.NotEqual(EventIds.Of(Recorded), EventIds.Of(again));
    }

    [Theory]
    [InlineData("")]
    [InlineData("x")]
    public void An_event_without_a_transaction_id_has_no_id(string transactionId)
    {
        var nameless = Recorded.Clone();
        nameless.TransactionId = transactionId;

        Assert.Throws<FormatException>(() => EventIds.Of(nameless));
    }
}
