using Billing.Hosting;

namespace Billing.UnitTests.Hosting;

public sealed class MemoryBudgetTests
{
    private static readonly MemoryBudget Small = new(288 << 20);

    [Fact]
    public void A_share_is_that_part_of_the_memory() => Assert.Equal(150_994_900, Small.Share(50), 100.0);

    [Fact]
    public void As_many_things_fit_as_their_bytes_allow()
    {
        Assert.Equal(Small.Share(50) / 320, Small.Fitting(50, 320, int.MaxValue));
        Assert.Equal(1000, Small.Fitting(50, 320, 1000));
    }

    [Fact]
    public void One_thing_fits_into_any_memory() => Assert.Equal(1, new MemoryBudget(1000).Fitting(10, 5000, 10));

    [Fact]
    public void A_process_has_the_memory_that_its_garbage_collector_may_use() =>
        Assert.InRange(MemoryBudget.OfProcess().Bytes, 1 << 20, GC.GetGCMemoryInfo().TotalAvailableMemoryBytes);

    [Theory]
    [InlineData(288L << 20, "288 MiB")]
    [InlineData((24L << 30) + 1, "24576 MiB")]
    public void Memory_is_said_in_MiB(long bytes, string text) => Assert.Equal(text, MemoryBudget.Text(bytes));
}
