using System.Collections;

namespace Grpc.Core;

public sealed partial class Metadata : IList<Metadata.Entry>
{
    public const string BinaryHeaderSuffix = "-bin";

    public static readonly Metadata Empty = new(isReadOnly: true);

    private readonly List<Entry> _entries = [];

    public Metadata()
    {
    }

    private Metadata(bool isReadOnly) => IsReadOnly = isReadOnly;

    public int Count => _entries.Count;

    public bool IsReadOnly { get; }

    public Entry this[int index]
    {
        get => _entries[index];
        set
        {
            ArgumentNullException.ThrowIfNull(value);
            ThrowIfReadOnly();
            _entries[index] = value;
        }
    }

    /// <summary>The last entry of this key, whatever the case of its letters; null if there is none.</summary>
    public Entry? Get(string key) => _entries.FindLast(entry => entry.HasKey(key));

    /// <summary>The text of the last entry of this key; null if there is none.</summary>
    /// <exception cref="InvalidOperationException">The entry is a binary one.</exception>
    public string? GetValue(string key) => Get(key)?.Value;

    /// <summary>The bytes of the last entry of this key, ASCII encoded for text; null if there is none.</summary>
    public byte[]? GetValueBytes(string key) => Get(key)?.ValueBytes;

    public IEnumerable<Entry> GetAll(string key) => _entries.Where(entry => entry.HasKey(key));

    public void Add(string key, string value) => Add(new Entry(key, value));

    public void Add(string key, byte[] valueBytes) => Add(new Entry(key, valueBytes));

    public void Add(Entry item)
    {
        ArgumentNullException.ThrowIfNull(item);
        ThrowIfReadOnly();
        _entries.Add(item);
    }

    public void Insert(int index, Entry item)
    {
        ArgumentNullException.ThrowIfNull(item);
        ThrowIfReadOnly();
        _entries.Insert(index, item);
    }

    public bool Remove(Entry item)
    {
        ThrowIfReadOnly();
        return _entries.Remove(item);
    }

    public void RemoveAt(int index)
    {
        ThrowIfReadOnly();
        _entries.RemoveAt(index);
    }

    public void Clear()
    {
        ThrowIfReadOnly();
        _entries.Clear();
    }

    public int IndexOf(Entry item) => _entries.IndexOf(item);

    public bool Contains(Entry item) => _entries.Contains(item);

    public void CopyTo(Entry[] array, int arrayIndex) => _entries.CopyTo(array, arrayIndex);

    public IEnumerator<Entry> GetEnumerator() => _entries.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    private void ThrowIfReadOnly()
    {
        if (IsReadOnly)
        {
            throw new InvalidOperationException("Object is read only");
        }
    }
}
