using Billing.Messaging.Kafka.Clients;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class TurnSenderTests
{
    private readonly ManualTime _time = new();
    private readonly List<int> _sent = [];
    private readonly TurnSender<int> _turns;

    public TurnSenderTests() => _turns = new TurnSender<int>(_sent.Add, bytes => bytes, _time);

    [Fact]
    public void Records_wait_until_all_of_the_turn_before_them_have_ended()
    {
        _turns.Send([1, 2]);
        _turns.Send([3]);
        _turns.Send([4, 5]);
        Assert.Equal([1, 2], _sent);

        _turns.End();
        Assert.Equal([1, 2], _sent);
        _turns.End();
        Assert.Equal([1, 2, 3, 4, 5], _sent);
    }

    [Fact]
    public void Without_records_in_flight_nothing_waits()
    {
        _turns.Send([1]);
        _turns.End();
        _turns.Send([2]);

        Assert.Equal([1, 2], _sent);
    }

    [Fact]
    public void A_turn_that_takes_too_long_does_not_hold_up_the_next()
    {
        _turns.Send([1]);
        _turns.Send([2]);
        _time.Advance(KafkaTimes.Turn);
        _turns.Send([3]);
        _turns.Send([4]);
        Assert.Equal([1, 2, 3], _sent);

        _turns.End();
        _turns.End();
        _turns.End();
        Assert.Equal([1, 2, 3, 4], _sent);
    }

    [Fact]
    public void A_record_that_fails_as_it_is_sent_ends()
    {
        TurnSender<int>? turns = null;
        turns = new TurnSender<int>(
            record =>
            {
                _sent.Add(record);
                turns!.End();
            },
            bytes => bytes, _time);

        turns.Send([1, 2]);
        turns.Send([3]);

        Assert.Equal([1, 2, 3], _sent);
    }

    [Fact]
    public void No_more_is_in_flight_than_a_producer_has_room_for()
    {
        const int Third = TurnSender<int>.BytesMax / 3;
        _turns.Send([Third, Third, Third, Third]);
        Assert.Equal(3, _sent.Count);
        _time.Advance(KafkaTimes.Turn);
        _turns.Send([Third]);
        Assert.Equal(3, _sent.Count);

        End(3);
        Assert.Equal(5, _sent.Count);
        End(2);
        _turns.Send([Third]);
        Assert.Equal(6, _sent.Count);
    }

    [Fact]
    public void A_record_that_is_larger_than_that_is_sent_alone()
    {
        _turns.Send([TurnSender<int>.BytesMax + 1, 1]);
        Assert.Equal([TurnSender<int>.BytesMax + 1], _sent);

        End(1);
        Assert.Equal([TurnSender<int>.BytesMax + 1, 1], _sent);
    }

    private void End(int count)
    {
        for (var record = 0; record < count; record++)
        {
            _turns.End();
        }
    }
}
