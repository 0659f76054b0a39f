using System.Buffers.Binary;
using Billing.Chaos.Faults;
using Confluent.Kafka;

namespace Billing.UnitTests.Chaos;

public sealed class RottenDiskTests : IDisposable
{
    private const int BatchBytes = 100;

    private static readonly HashSet<TopicPartition> None = [];

    private static readonly IEnumerable<int> Seeds = Enumerable.Range(0, 200);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-disk-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void One_bit_changes_in_one_of_the_newest_batches_behind_its_head() => Assert.All(Seeds, seed =>
    {
        var log = Log("billing.events-0", batches: 10);
        var before = File.ReadAllBytes(log);

        var changed = new RottenDisk(_folder.FullName, new Random(seed)).ChangeBit(None);

        var after = File.ReadAllBytes(log);
        var at = Assert.Single(Enumerable.Range(0, before.Length), i => after[i] != before[i]);
        Assert.Equal(new TopicPartition("billing.events", 0), changed);
        Assert.Equal(before.Length, after.Length);
        Assert.True(int.IsPow2(before[at] ^ after[at]));
        Assert.InRange(at / BatchBytes, 10 - RottenDisk.NewestMax, 9);
        Assert.True(at % BatchBytes >= RottenDisk.HeadBytes);
    });

    [Fact]
    public void The_same_seed_changes_the_same_bits()
    {
        var log = Log("billing.events-0", batches: 3);
        var before = File.ReadAllBytes(log);

        Change(seed: 7);
        var once = File.ReadAllBytes(log);
        Change(seed: 7);

        Assert.NotEqual(before, once);
        Assert.Equal(before, File.ReadAllBytes(log));
    }

    [Fact]
    public void A_batch_that_is_added_later_rots_too()
    {
        var log = Log("billing.events-0", batches: 1);
        var disk = new RottenDisk(_folder.FullName, new Random(1));
        disk.ChangeBit(None);
        Log("billing.events-0", batches: 1 + RottenDisk.NewestMax);
        var before = File.ReadAllBytes(log);

        disk.ChangeBit(None);

        Assert.Equal(before[..BatchBytes], File.ReadAllBytes(log)[..BatchBytes]);
        Assert.NotEqual(before, File.ReadAllBytes(log));
    }

    [Fact]
    public void A_log_that_was_cut_rots_at_its_new_end()
    {
        var log = Log("billing.events-0", batches: 10);
        var disk = new RottenDisk(_folder.FullName, new Random(1));
        disk.ChangeBit(None);
        Log("billing.events-0", batches: 2);
        var before = File.ReadAllBytes(log);

        Assert.NotNull(disk.ChangeBit(None));

        Assert.Equal(before.Length, new FileInfo(log).Length);
        Assert.NotEqual(before, File.ReadAllBytes(log));
    }

    [Theory]
    [InlineData("__cluster_metadata-0")]
    [InlineData("__consumer_offsets-3")]
    [InlineData("billing.clocks-0")]
    [InlineData("billing.payments.visa-0.f3a1-delete")]
    public void What_the_platform_does_not_read_stays_as_it_is(string name)
    {
        var log = Log(name, batches: 3);
        var before = File.ReadAllBytes(log);

        Assert.Null(Change(seed: 1));

        Assert.Equal(before, File.ReadAllBytes(log));
    }

    [Fact]
    public void A_log_without_a_whole_batch_stays_as_it_is()
    {
        var log = Log("billing.events-0", batches: 1);
        var torn = File.ReadAllBytes(log)[..^1];
        File.WriteAllBytes(log, torn);

        Assert.Null(Change(seed: 1));

        Assert.Equal(torn, File.ReadAllBytes(log));
    }

    [Fact]
    public void An_empty_disk_stays_as_it_is() => Assert.Null(Change(seed: 1));

    [Fact]
    public void Most_bits_change_where_the_broker_leads_and_some_elsewhere()
    {
        var led = new TopicPartition("billing.payments.visa", 1);
        Log("billing.payments.visa-0", batches: 3);
        Log("billing.payments.visa-1", batches: 3);
        Log("billing.events-0", batches: 3);
        var disk = new RottenDisk(_folder.FullName, new Random(1));

        var where = Enumerable.Range(0, 300).Select(_ => disk.ChangeBit(new HashSet<TopicPartition> { led })!)
            .CountBy(partition => partition).ToDictionary();

        Assert.Equal(3, where.Count);
        Assert.InRange(where[led], 200, 299);
    }

    private TopicPartition? Change(int seed) => new RottenDisk(_folder.FullName, new Random(seed)).ChangeBit(None);

    // Batches of zeros but for their length, which does not count what is up to its own end.
    private string Log(string name, int batches)
    {
        var bytes = new byte[batches * BatchBytes];
        for (var batch = 0; batch < batches; batch++)
        {
            BinaryPrimitives.WriteInt32BigEndian(bytes.AsSpan((batch * BatchBytes) + 8), BatchBytes - 12);
        }
        var log = Path.Combine(_folder.CreateSubdirectory(name).FullName, "00000000000000000000.log");
        File.WriteAllBytes(log, bytes);
        return log;
    }
}
