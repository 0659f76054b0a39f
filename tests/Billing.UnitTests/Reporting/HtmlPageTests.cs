using System.Xml.Linq;
using Billing.Reporting;
using Billing.Reporting.Pages;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Reporting;

public sealed class HtmlPageTests : IDisposable
{
    private const string Hostile = "<img src=x onerror=alert(1)> & \"two\"";

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-report-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void A_page_is_well_formed_and_its_texts_are_escaped()
    {
        var page = XDocument.Parse(HtmlPage.Of(Everything.Report(Hostile)));
        Assert.Equal(Hostile, page.Descendants("h1").Single().Value);
        Assert.DoesNotContain(page.Descendants(), e => e.Name.LocalName is "img" or "script");
    }

    [Fact]
    public void Any_text_gives_a_well_formed_page()
    {
        var texts = Gen.Choose(0, char.MaxValue).ArrayOf()
            .Select(letters => new string(Array.ConvertAll(letters, l => (char)l)));
        texts.Holds(text => XDocument.Parse(HtmlPage.Of(Everything.Report(text))), tries: 50);
    }

    [Fact]
    public void A_page_loads_no_other_resources()
    {
        var page = HtmlPage.Of(Everything.Report("text"));
        Assert.DoesNotContain("<script", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<link", page, StringComparison.Ordinal);
        Assert.DoesNotContain("url(", page, StringComparison.Ordinal);
        Assert.DoesNotContain("@import", page, StringComparison.Ordinal);
        Assert.DoesNotContain(
            "http", page.Replace("http://www.w3.org/2000/svg", "", StringComparison.Ordinal), StringComparison.Ordinal);
    }

    [Fact]
    public void Only_void_elements_are_self_closing()
    {
        var page = XDocument.Parse(
            HtmlPage.Of(Everything.Report("text") with { Subtitle = "", Facts = [] }), LoadOptions.PreserveWhitespace);
        Assert.All(
            page.Descendants().Where(e => e.Name.NamespaceName.Length == 0),
            e => Assert.True(
                !e.IsEmpty || e.Name.LocalName == "meta", $"<{e.Name.LocalName}/> in a page is not closed in HTML"));
    }

    [Fact]
    public void The_style_sheet_has_no_characters_that_need_escaping() =>
        Assert.Equal(-1, StyleSheets.Page.AsSpan().IndexOfAny('<', '>', '&'));

    [Fact]
    public void A_table_without_rows_says_so()
    {
        var report = Everything.Report(
            "x") with
        { Sections = [new Section("", new Table { Columns = [new Column("a")], Rows = [] })] };
        Assert.Contains(XDocument.Parse(HtmlPage.Of(report)).Descendants("p"), p => p.Value == "No data.");
    }

    [Theory]
    [InlineData("new/folder", "new/folder/report.html")]
    [InlineData("run.html", "run.html")]
    public async Task A_report_is_written_to_a_folder_or_to_the_named_file(string target, string page)
    {
        var written = await Everything.Report("a")
            .WriteAsync(Path.Combine(_folder.FullName, target), TestContext.Current.CancellationToken);

        Assert.Equal(Path.Combine(_folder.FullName, page), written);
        Assert.True(File.Exists(written));
    }
}
