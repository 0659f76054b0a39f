using System.Buffers;

namespace Billing.Rehearsal.Listening;

/// <summary>All texts that nobody may read on the network, searched for at once.</summary>
internal sealed class Needles
{
    private readonly Needle[] _all;
    private readonly SearchValues<string> _texts;
    private readonly ILookup<char, Needle> _byFirst;

    public Needles(IEnumerable<Needle> needles)
    {
        _all = [.. needles.DistinctBy(needle => (needle.Text, needle.Form))];
        _texts = SearchValues.Create([.. _all.Select(needle => needle.Text)], StringComparison.Ordinal);
        _byFirst = _all.ToLookup(needle => needle.Text[0]);
        LengthMax = _all.Max(needle => needle.Length);
    }

    /// <summary>The length of the longest one, in bytes.</summary>
    public int LengthMax { get; }

    /// <summary>These and others.</summary>
    public Needles And(IEnumerable<Needle> others) => new(_all.Concat(others));

    /// <summary>Counts those that are in a text.</summary>
    /// <param name="text">The text, each byte as the character of that number.</param>
    /// <param name="counted">How many characters of its beginning were searched before: what ends in them does not
    /// count again.</param>
    /// <param name="found">The counts by the needles' names.</param>
    public void Count(ReadOnlySpan<char> text, int counted, Dictionary<string, long> found)
    {
        for (var start = 0; text[start..].IndexOfAny(_texts) is var next and >= 0; start++)
        {
            start += next;
            foreach (var needle in _byFirst[text[start]])
            {
                if (start + needle.Length > counted && needle.Begins(text[start..]))
                {
                    found[needle.Name] = found.GetValueOrDefault(needle.Name) + 1;
                }
            }
        }
    }
}
