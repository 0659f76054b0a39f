namespace Billing.Reporting;

/// <summary>The style sheets, which lie beside this file and are part of the program.</summary>
internal static class StyleSheets
{
    /// <summary>For charts, wherever they are.</summary>
    public static string Charts { get; } = Read("charts.css");

    /// <summary>For the page around them.</summary>
    public static string Page { get; } = Read("page.css");

    private static string Read(string name)
    {
        using var stream = typeof(StyleSheets).Assembly.GetManifestResourceStream(typeof(StyleSheets), name)
            ?? throw new InvalidOperationException($"{name} is not part of the program.");
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }
}
