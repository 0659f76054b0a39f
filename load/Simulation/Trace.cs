using System.Globalization;
using System.Text;

namespace Billing.Simulation;

/// <summary>The trace of a run: what happened, in order. Its hash is always kept, to compare two runs of the same seed;
/// its lines only on request.</summary>
internal sealed class Trace(Scheduler scheduler, bool keepsLines)
{
    private readonly StringBuilder _lines = new();

    public ulong Hash { get; private set; } = 14695981039346656037;

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
            _lines.AppendLine(
                CultureInfo.InvariantCulture, $"{scheduler.Now / 10_000d,10:0.000} ms  {who,-14} {what} {id}");
        }
    }

    private void Add(ulong value) => Hash = (Hash ^ value) * 1099511628211;
}
