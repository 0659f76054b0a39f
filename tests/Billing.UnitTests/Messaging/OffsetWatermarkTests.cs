using Billing.Messaging;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Messaging;

public sealed class OffsetWatermarkTests
{
    [Fact]
    public void The_first_unsettled_offset_is_committed_in_any_order_of_settling()
    {
        var runs =
            from gaps in Gen.Choose(1, 4).NonEmptyListOf()
            let offsets = gaps.Aggregate(new List<long>(), (all, gap) => [.. all, (all.Count == 0 ? 0 : all[^1]) + gap])
            from order in Gen.Shuffle(Enumerable.Range(0, offsets.Count))
            select (Offsets: offsets, Order: order);
        runs.Holds(run => SettleInOrder(run.Offsets, run.Order), tries: 300);
    }

    private static void SettleInOrder(List<long> offsets, int[] order)
    {
        var watermark = new OffsetWatermark();
        var slots = offsets.ConvertAll(offset => watermark.Track(offset));
        var settled = new bool[slots.Count];
        long committed = 0;
        foreach (var index in order)
        {
            slots[index].Settle();
            settled[index] = true;
            var moved = watermark.TryAdvance(out var next);
            var done = settled.TakeWhile(s => s).Count();
            Assert.Equal(index == 0 || (done > index && committed <= offsets[index]), moved);
            if (moved)
            {
                committed = next;
                Assert.Equal(offsets[done - 1] + 1, committed);
            }
            Assert.Equal(offsets.Count - done, watermark.Count);
            Assert.True(done == offsets.Count || committed <= offsets[done]);
        }
        Assert.Equal(offsets[^1] + 1, committed);
        Assert.False(watermark.TryAdvance(out _));
    }

    [Fact]
    public void Offsets_may_have_gaps_from_compaction_and_transactions()
    {
        var watermark = new OffsetWatermark();
        var first = watermark.Track(3);
        var second = watermark.Track(10);
        second.Settle();
        Assert.False(watermark.TryAdvance(out _));
        first.Settle();
        Assert.True(watermark.TryAdvance(out var next));
        Assert.Equal(11, next);
    }

    [Theory]
    [InlineData(5)]
    [InlineData(4)]
    [InlineData(-1)]
    public void An_offset_that_does_not_increase_is_refused(long offset)
    {
        var watermark = new OffsetWatermark();
        watermark.Track(5);
        Assert.Throws<ArgumentOutOfRangeException>(() => watermark.Track(offset));
        Assert.Equal(1, watermark.Count);
    }

    [Fact]
    public void Nothing_in_flight_means_nothing_to_commit()
    {
        var watermark = new OffsetWatermark();
        Assert.False(watermark.TryAdvance(out _));
        watermark.Track(0).Settle();
        Assert.True(watermark.TryAdvance(out var next));
        Assert.Equal(1, next);
    }

    [Fact]
    public void Settling_a_slot_again_has_no_effect()
    {
        var watermark = new OffsetWatermark();
        var slot = watermark.Track(7);
        slot.Settle();
        slot.Settle();
        Assert.True(watermark.TryAdvance(out var next));
        Assert.Equal(8, next);
        Assert.False(watermark.TryAdvance(out _));
    }

    [Fact]
    public async Task Slots_settled_from_many_threads_all_count()
    {
        var watermark = new OffsetWatermark();
        var slots = Enumerable.Range(0, 10_000).Select(i => watermark.Track(i)).ToList();
        await Task.WhenAll(slots.Chunk(1000).Select(chunk => Task.Run(() => Array.ForEach(chunk, s => s.Settle()))));
        Assert.True(watermark.TryAdvance(out var next));
        Assert.Equal(10_000, next);
        Assert.Equal(0, watermark.Count);
    }
}
