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
        var texts = Gen.Choose(0, char.MaxValue).ArrayOf().Select(letters => new string(Array.ConvertAll(letters, l => (char)l)));
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
        Assert.DoesNotContain("http", page.Replace("http://www.w3.org/2000/svg", "", StringComparison.Ordinal), StringComparison.Ordinal);
    }

    [Fact]
    public void Only_void_elements_are_self_closing()
    {
        var page = XDocument.Parse(HtmlPage.Of(Everything.Report("text") with { Subtitle = "", Facts = [] }), LoadOptions.PreserveWhitespace);
        Assert.All(
            page.Descendants().Where(e => e.Name.NamespaceName.Length == 0),
            e => Assert.True(!e.IsEmpty || e.Name.LocalName == "meta", $"<{e.Name.LocalName}/> in a page is not closed in HTML"));
    }

    [Fact]
    public void The_style_sheets_have_no_characters_that_need_escaping() =>
        Assert.Equal(-1, (StyleSheets.Page + StyleSheets.Charts).AsSpan().IndexOfAny('<', '>', '&'));

    [Fact]
    public void A_table_without_rows_says_so()
    {
        var report = Everything.Report("x") with { Sections = [new Section("", new Table { Columns = [new Column("a")], Rows = [] })] };
        Assert.Contains(XDocument.Parse(HtmlPage.Of(report)).Descendants("p"), p => p.Value == "No data.");
    }

    [Fact]
    public async Task A_report_is_written_to_a_folder_with_an_SVG_file_of_each_chart()
    {
        var target = Path.Combine(_folder.FullName, "new", "folder");
        var page = await Everything.Report("Latency <p99>, ms").WriteAsync(target, TestContext.Current.CancellationToken);
        Assert.Equal(Path.Combine(target, "report.html"), page);
        Assert.Equal(
            ["latency-p99-ms-2.svg", "latency-p99-ms-3.svg", "latency-p99-ms-4.svg", "latency-p99-ms-5.svg", "latency-p99-ms-6.svg", "latency-p99-ms-7.svg", "latency-p99-ms.svg", "report.html"],
            Directory.GetFiles(target).Select(Path.GetFileName).Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task The_name_of_a_report_is_the_prefix_of_its_SVG_files()
    {
        var page = await Everything.Report("a").WriteAsync(Path.Combine(_folder.FullName, "run.html"), TestContext.Current.CancellationToken);
        Assert.Equal("run.html", Path.GetFileName(page));
        Assert.True(File.Exists(Path.Combine(_folder.FullName, "run-a.svg")));
    }
}
