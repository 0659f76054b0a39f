using System.Globalization;
using System.Text;
using System.Xml;
using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>Creates the elements of a page. page.css formats them by their classes.</summary>
internal static class Html
{
    // The rest of the width is for the values after the bars.
    private const int LongestBarPercent = 72;
    private const int Colors = 8;

    /// <summary>Creates an element with attributes and content.</summary>
    public static XElement Element(string name, string? cssClass, params object?[] content) => new(
        name,
        cssClass is null ? null : new XAttribute("class", cssClass),
        content.Select(c => c is string text ? Clean(text) : c),
        // An element without content would be written as a self-closing tag, which HTML reads as an open one.
        "");

    /// <summary>Returns the class for the colour of the series with this number, from 0.</summary>
    public static string Color(int series) => string.Create(CultureInfo.InvariantCulture, $"s{(series % Colors) + 1}");

    public static XAttribute Style(string style) => new("style", style);

    /// <summary>Creates the names of the series in the order of their colours, and of the measured quantity;
    /// a single series needs no name.</summary>
    public static IEnumerable<XElement> Legend(IReadOnlyList<string> names, string quantity) =>
        names.Count < 2 && quantity.Length == 0 ? [] :
        [
            Element("div", "legend",
                names.Select(
                    (name, i) => names.Count < 2 ? null : Element("span", null, Element("i", "key " + Color(i)), name)),
                quantity.Length > 0 ? Element("span", null, quantity) : null),
        ];

    /// <summary>Creates the lines of bars of a category.</summary>
    public static XElement Bars(string category, IEnumerable<IReadOnlyList<XElement>> lines) => Element("div", "bars",
        Element("div", "category", category),
        Element("div", "rows", lines.Select(line => Element("div", "bar", line))));

    /// <summary>Creates a bar.</summary>
    /// <param name="series">The number of its colour, from 0.</param>
    /// <param name="share">Its length as a share of the longest; negative for none.</param>
    /// <param name="title">Its tooltip.</param>
    /// <param name="label">The text in it.</param>
    public static XElement Bar(int series, double share, string title, string label) => Element(
        "i", "fill " + Color(series), new XAttribute("title", Clean(title)),
        Style(string.Create(CultureInfo.InvariantCulture, $"width:{Math.Max(0, share) * LongestBarPercent:0.##}%")),
        label);

    /// <summary>Replaces the characters of a text that are invalid in XML.</summary>
    public static string Clean(string text)
    {
        var clean = new StringBuilder(text.Length);
        foreach (var rune in text.EnumerateRunes())
        {
            clean.Append(
                rune.Value > char.MaxValue || XmlConvert.IsXmlChar((char)rune.Value) ? rune.ToString() : "\uFFFD");
        }
        return clean.ToString();
    }
}
