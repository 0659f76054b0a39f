namespace Billing.Reporting;

/// <summary>The style sheet, which is an embedded resource.</summary>
internal static class StyleSheets
{
    /// <summary>The style sheet of pages.</summary>
    public static string Page { get; } = Read();

    private static string Read()
    {
        using var stream = typeof(StyleSheets).Assembly.GetManifestResourceStream(typeof(StyleSheets), "page.css")
            ?? throw new InvalidOperationException("The embedded resource page.css is missing.");
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }
}
