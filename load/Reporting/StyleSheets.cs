namespace Billing.Reporting;

/// <summary>The style sheets, which are embedded resources.</summary>
internal static class StyleSheets
{
    /// <summary>The style sheet of charts, on a page and in separate files.</summary>
    public static string Charts { get; } = Read("charts.css");

    /// <summary>The style sheet of pages.</summary>
    public static string Page { get; } = Read("page.css");

    private static string Read(string name)
    {
        using var stream = typeof(StyleSheets).Assembly.GetManifestResourceStream(typeof(StyleSheets), name)
            ?? throw new InvalidOperationException($"The embedded resource {name} is missing.");
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }
}
