using System.Buffers;
using System.Text.Encodings.Web;

namespace Billing.Operator.Exports;

/// <summary>A format of exported events: text in UTF-8, a line for each event.</summary>
/// <param name="Name">Its name, which is also the extension of its files.</param>
/// <param name="Header">What comes before the events.</param>
/// <param name="Write">Writes an event.</param>
internal sealed record ExportFormat(string Name, string Header, Action<TextWriter, ExportedEvent> Write)
{
    private const string EndOfLine = "\r\n";

    // How spreadsheets recognise a formula (OWASP, CSV Injection). A text that begins like one gets an apostrophe in
    // front, and so that whoever reads it can take that away again, one that begins with an apostrophe, too.
    private static readonly SearchValues<char> Formulas = SearchValues.Create("=+-@\t\r\n'");

    private static readonly SearchValues<char> Quoted = SearchValues.Create(",\"\r\n");

    // Whatever JSON does not require to be escaped is written as it is.
    private static readonly JavaScriptEncoder Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping;

    private static readonly string[] Names = [.. ExportedEvent.Columns.Select(column => column.Name)];

    /// <summary>Comma-separated values (RFC 4180).</summary>
    public static ExportFormat Csv { get; } = new("csv", string.Join(',', Names) + EndOfLine, WriteCsv);

    /// <summary>JSON Lines: an object on each line.</summary>
    public static ExportFormat JsonLines { get; } = new("jsonl", "", WriteJson);

    /// <summary>All formats.</summary>
    public static IReadOnlyList<ExportFormat> All { get; } = [Csv, JsonLines];

    private static void WriteCsv(TextWriter to, ExportedEvent e)
    {
        var separator = "";
        foreach (var column in ExportedEvent.Columns)
        {
            to.Write(separator);
            separator = ",";
            var value = column.Value(e) ?? "";
            if (column.IsFromCallers && value.Length > 0 && Formulas.Contains(value[0]))
            {
                value = "'" + value;
            }
            to.Write(value.AsSpan().ContainsAny(Quoted)
                ? $"\"{value.Replace("\"", "\"\"", StringComparison.Ordinal)}\""
                : value);
        }
        to.Write(EndOfLine);
    }

    private static void WriteJson(TextWriter to, ExportedEvent e)
    {
        var separator = "{\"";
        foreach (var column in ExportedEvent.Columns)
        {
            to.Write(separator);
            to.Write(column.Name);
            separator = ",\"";
            var value = column.Value(e);
            to.Write(value is null ? "\":null" : column.IsJson ? $"\":{value}" : $"\":\"{Encoder.Encode(value)}\"");
        }
        to.Write("}\n");
    }
}
