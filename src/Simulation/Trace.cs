using System.Globalization;
using System.Text;

namespace Billing.Simulation;

/// <summary>What happened in a run, in order. Of every run a hash is kept, to compare two of one seed; the lines only where
/// somebody wants to read them.</summary>
/// <param name="scheduler">Tells the time.</param>
/// <param name="keepsLines">Whether to keep the lines.</param>
internal sealed class Trace(Scheduler scheduler, bool keepsLines)
{
    private readonly StringBuilder _lines = new();

    /// <summary>A hash of all that was written.</summary>
    public ulong Hash { get; private set; } = 14695981039346656037;

    /// <summary>All that was written, where it is kept.</summary>
    public string Lines => _lines.ToString();

    public void Write(string who, string what, Guid about = default)
    {
        Add((ulong)scheduler.Now);
        foreach (var c in who)
        {
            Add(c);
        }
        foreach (var c in what)
        {
            Add(c);
        }
        if (keepsLines)
        {
            var id = about == default ? "" : about.ToString()[..8];
            _lines.AppendLine(CultureInfo.InvariantCulture, $"{scheduler.Now / 10_000d,10:0.000} ms  {who,-14} {what} {id}");
        }
    }

    private void Add(ulong value) => Hash = (Hash ^ value) * 1099511628211;
}
