using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>A chart.</summary>
public abstract record Chart(string Title) : Block
{
    /// <summary>The note below the chart; empty for none.</summary>
    public string Note { get; init; } = "";

    /// <summary>Whether there is something to draw.</summary>
    internal abstract bool HasData { get; }

    /// <summary>Draws the chart as elements of a page, which page.css formats.</summary>
    internal abstract IEnumerable<XElement> Draw();
}
