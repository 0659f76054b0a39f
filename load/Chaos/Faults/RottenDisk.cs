using System.Buffers.Binary;
using System.Text.RegularExpressions;
using Confluent.Kafka;
using Microsoft.Win32.SafeHandles;

namespace Billing.Chaos.Faults;

/// <summary>The disk of a running broker, which rots: bits of what is stored change, and nobody is told. Those of the
/// platform's newest records, which still have readers; what was read long ago hurts nobody. Records that are not
/// replicated yet rot as well: the other brokers refuse to copy them, so nobody is told that they are stored. Not
/// thread-safe.</summary>
/// <param name="folder">The folder of the broker's logs, each of one partition.</param>
/// <param name="random">Chooses the bits.</param>
public sealed partial class RottenDisk(string folder, Random random)
{
    /// <summary>Where, in a batch of records, what rots begins. What is before it the checksum does not cover, or the
    /// broker goes by it without a look at the checksum.</summary>
    public const int HeadBytes = 27;

    /// <summary>Number of batches of a partition, the last ones, that rot.</summary>
    public const int NewestMax = 4;

    private const int LengthAt = 8;
    private const int BeforeLength = LengthAt + sizeof(int);

    // Of four bits, how many are in logs that have readers, as long as there are such logs.
    private const int ReadQuarters = 3;

    private readonly Dictionary<string, Tail> _tails = new(StringComparer.Ordinal);

    /// <summary>Changes one bit.</summary>
    /// <param name="led">The partitions that the broker leads: others are only read by those who replace it.</param>
    /// <returns>The partition that it is in; null if nothing is stored there.</returns>
    public TopicPartition? ChangeBit(IReadOnlySet<TopicPartition> led)
    {
        var logs = Directory.EnumerateDirectories(folder).Order(StringComparer.Ordinal)
            .Select(log => (Path: log, Partition: PartitionOf(Path.GetFileName(log))))
            .Where(log => log.Partition is not null).ToList();
        var read = logs.FindAll(log => led.Contains(log.Partition!));
        var chosen = read.Count > 0 && random.Next(4) < ReadQuarters ? read : logs;
        if (chosen.Count == 0)
        {
            return null;
        }
        var (path, partition) = chosen[random.Next(chosen.Count)];
        try
        {
            return ChangeBitOf(path) ? partition : null;
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
        {
            // Its topic was deleted in this moment.
            return null;
        }
    }

    private bool ChangeBitOf(string log)
    {
        if (Directory.EnumerateFiles(log, "*.log").Max(StringComparer.Ordinal) is not { } segment)
        {
            return false;
        }
        using var file = File.OpenHandle(
            segment, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete);
        var newest = Follow(segment, file).Newest;
        if (newest.Count == 0)
        {
            return false;
        }
        var (start, end) = newest.ElementAt(random.Next(newest.Count));
        var at = random.NextInt64(start + HeadBytes, end);
        Span<byte> one = [0];
        if (RandomAccess.Read(file, one, at) == 0)
        {
            // The broker has cut the log since.
            return false;
        }
        one[0] ^= (byte)(1 << random.Next(8));
        RandomAccess.Write(file, one, at);
        return true;
    }

    // From where it was left.
    private Tail Follow(string segment, SafeFileHandle file)
    {
        var length = RandomAccess.GetLength(file);
        if (!_tails.TryGetValue(segment, out var tail) || tail.End > length)
        {
            _tails[segment] = tail = new Tail();
        }
        Span<byte> head = stackalloc byte[BeforeLength];
        while (tail.End + BeforeLength <= length && RandomAccess.Read(file, head, tail.End) == BeforeLength)
        {
            var end = tail.End + BeforeLength + BinaryPrimitives.ReadInt32BigEndian(head[LengthAt..]);
            if (end > length || end <= tail.End + HeadBytes)
            {
                // It is still being written.
                break;
            }
            tail.Add(end);
        }
        return tail;
    }

    /// <summary>The partition whose log a folder is; null if the platform does not read it.</summary>
    private static TopicPartition? PartitionOf(string name) => Log().Match(name) is { Success: true } log
        ? new TopicPartition(log.Groups[1].Value, int.Parse(log.Groups[2].ValueSpan))
        : null;

    // A log that is being deleted has another ending.
    [GeneratedRegex(@"^(billing\.(?:events|(?:payments|balances|replies)\..+))-(\d{1,9})$")]
    private static partial Regex Log();

    private sealed class Tail
    {
        private readonly Queue<(long Start, long End)> _newest = new();

        public long End { get; private set; }

        public IReadOnlyCollection<(long Start, long End)> Newest => _newest;

        public void Add(long end)
        {
            _newest.Enqueue((End, end));
            End = end;
            if (_newest.Count > NewestMax)
            {
                _newest.Dequeue();
            }
        }
    }
}
