namespace Billing.Messaging;

/// <summary>The memory that the commands of a backend take, from when each is read until it is settled, left to another
/// owner, or acknowledged as a dead letter. Thread-safe.</summary>
/// <param name="bytesMax">The most, in bytes: at this, no more commands are read.</param>
/// <param name="bytesEach">What each command takes beside its contents, in bytes.</param>
/// <param name="copies">How often its contents are in memory.</param>
public sealed class CommandMemory(long bytesMax, int bytesEach, int copies)
{
    private long _bytes;

    /// <summary>What the commands take now, in bytes.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>The most, in bytes.</summary>
    public long BytesMax => bytesMax;

    /// <summary>Whether more commands may be read.</summary>
    public bool HasRoom => Bytes < bytesMax;

    /// <summary>Whether so much has been given back that reading is worth beginning again.</summary>
    public bool HasMuchRoom => Bytes < bytesMax - (bytesMax / 4);

    /// <summary>Takes memory for a command; <see cref="Return"/> gives it back.</summary>
    /// <param name="recordBytes">The size of its record's value, in bytes.</param>
    /// <returns>What it takes, in bytes.</returns>
    internal long Take(int recordBytes)
    {
        var bytes = bytesEach + ((long)copies * recordBytes);
        Interlocked.Add(ref _bytes, bytes);
        return bytes;
    }

    /// <summary>Gives memory back.</summary>
    internal void Return(long bytes) => Interlocked.Add(ref _bytes, -bytes);
}
