using System.Globalization;
using System.Text;
using System.Xml;
using System.Xml.Linq;

namespace Billing.Reporting.Charts;

/// <summary>Creates the elements of a drawing. charts.css formats them by their classes.</summary>
internal static class Svg
{
    /// <summary>The font size of charts.</summary>
    public const double TextSize = 12.5;

    private static readonly XNamespace Namespace = "http://www.w3.org/2000/svg";

    public static XElement Root(double width, double height, string label, IEnumerable<XElement> content) => Element(
        "svg", null, new XAttribute("viewBox", $"0 0 {Number(width)} {Number(height)}"), new XAttribute("role", "img"),
        new XAttribute("aria-label", Clean(label)), new XAttribute("class", "chart"), content);

    /// <summary>Creates an element with attributes and content.</summary>
    public static XElement Element(string name, string? cssClass, params object?[] content) => new(
        Namespace + name, cssClass is null ? null : new XAttribute("class", cssClass), content);

    public static XElement Line(double x1, double y1, double x2, double y2, string cssClass) => Element(
        "line", cssClass, At("x1", x1), At("y1", y1), At("x2", x2), At("y2", y2));

    public static XElement Rect(double x, double y, double width, double height, string cssClass, double radius = 0) => Element(
        "rect", cssClass, At("x", x), At("y", y), At("width", Math.Max(0, width)), At("height", Math.Max(0, height)),
        radius > 0 ? At("rx", radius) : null);

    public static XElement Circle(double x, double y, double radius, string cssClass) =>
        Element("circle", cssClass, At("cx", x), At("cy", y), At("r", radius));

    public static XElement Text(double x, double y, string text, string cssClass = "label", string anchor = "start") => Element(
        "text", cssClass, At("x", x), At("y", y), anchor == "start" ? null : new XAttribute("text-anchor", anchor), Clean(text));

    /// <summary>Creates a line through points.</summary>
    public static XElement Path(IEnumerable<(double X, double Y)> points, string cssClass)
    {
        var path = new StringBuilder();
        foreach (var (x, y) in points)
        {
            path.Append(path.Length == 0 ? 'M' : 'L').Append(Number(x)).Append(',').Append(Number(y));
        }
        return Element("path", cssClass, new XAttribute("d", path.ToString()));
    }

    /// <summary>Adds a tooltip to an element.</summary>
    public static XElement Titled(this XElement element, string title)
    {
        element.AddFirst(Element("title", null, Clean(title)));
        return element;
    }

    public static XAttribute At(string name, double value) => new(name, Number(value));

    /// <summary>Estimates the width of a text.</summary>
    public static double WidthOf(string text) => text.Length * TextSize * 0.56;

    /// <summary>Replaces the characters of a text that are invalid in XML.</summary>
    public static string Clean(string text)
    {
        for (var i = 0; i < text.Length; i++)
        {
            if (!XmlConvert.IsXmlChar(text[i]))
            {
                return Replace(text);
            }
        }
        return text;
    }

    private static string Replace(string text)
    {
        var clean = new StringBuilder(text.Length);
        for (var i = 0; i < text.Length; i++)
        {
            if (i + 1 < text.Length && char.IsSurrogatePair(text[i], text[i + 1]))
            {
                clean.Append(text[i]).Append(text[++i]);
            }
            else
            {
                clean.Append(XmlConvert.IsXmlChar(text[i]) ? text[i] : '\uFFFD');
            }
        }
        return clean.ToString();
    }

    private static string Number(double value) => Math.Round(value, 2).ToString("0.##", CultureInfo.InvariantCulture);
}
