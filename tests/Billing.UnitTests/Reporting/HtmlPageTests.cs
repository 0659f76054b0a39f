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
    public void A_page_is_well_formed_and_its_texts_are_only_texts()
    {
        var page = XDocument.Parse(HtmlPage.Of(Everything.Report(Hostile)));
        Assert.Equal(Hostile, page.Descendants("h1").Single().Value);
        Assert.DoesNotContain(page.Descendants(), e => e.Name.LocalName is "img" or "script");
    }

    [Fact]
    public void No_text_whatever_breaks_a_page()
    {
        var texts = Gen.Choose(0, char.MaxValue).ArrayOf().Select(letters => new string(Array.ConvertAll(letters, l => (char)l)));
        texts.Holds(text => XDocument.Parse(HtmlPage.Of(Everything.Report(text))), tries: 50);
    }

    [Fact]
    public void A_page_needs_nothing_but_itself()
    {
        var page = HtmlPage.Of(Everything.Report("text"));
        Assert.DoesNotContain("<script", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<link", page, StringComparison.Ordinal);
        Assert.DoesNotContain("url(", page, StringComparison.Ordinal);
        Assert.DoesNotContain("@import", page, StringComparison.Ordinal);
        Assert.DoesNotContain("http", page.Replace("http://www.w3.org/2000/svg", "", StringComparison.Ordinal), StringComparison.Ordinal);
    }

    [Fact]
    public void No_element_but_the_void_ones_is_left_open_for_html()
    {
        var page = XDocument.Parse(HtmlPage.Of(Everything.Report("text") with { Subtitle = "", Facts = [] }), LoadOptions.PreserveWhitespace);
        Assert.All(
            page.Descendants().Where(e => e.Name.NamespaceName.Length == 0),
            e => Assert.True(!e.IsEmpty || e.Name.LocalName == "meta", $"<{e.Name.LocalName}/> in a page is no end tag"));
    }

    [Fact]
    public void The_style_sheets_hold_nothing_that_a_page_would_escape() =>
        Assert.Equal(-1, (StyleSheets.Page + StyleSheets.Charts).AsSpan().IndexOfAny('<', '>', '&'));

    [Fact]
    public void A_table_without_rows_says_so()
    {
        var report = Everything.Report("x") with { Sections = [new Section("", new Table { Columns = [new Column("a")], Rows = [] })] };
        Assert.Contains(XDocument.Parse(HtmlPage.Of(report)).Descendants("p"), p => p.Value == "No data.");
    }

    [Fact]
    public async Task A_report_goes_into_a_folder_with_a_picture_of_each_chart()
    {
        var target = Path.Combine(_folder.FullName, "new", "folder");
        var page = await Everything.Report("Latency <p99>, ms").WriteAsync(target, TestContext.Current.CancellationToken);
        Assert.Equal(Path.Combine(target, "report.html"), page);
        Assert.Equal(
            ["latency-p99-ms-2.svg", "latency-p99-ms-3.svg", "latency-p99-ms-4.svg", "latency-p99-ms-5.svg", "latency-p99-ms-6.svg", "latency-p99-ms-7.svg", "latency-p99-ms.svg", "report.html"],
            Directory.GetFiles(target).Select(Path.GetFileName).Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task A_report_with_a_name_gives_it_to_its_pictures()
    {
        var page = await Everything.Report("a").WriteAsync(Path.Combine(_folder.FullName, "run.html"), TestContext.Current.CancellationToken);
        Assert.Equal("run.html", Path.GetFileName(page));
        Assert.True(File.Exists(Path.Combine(_folder.FullName, "run-a.svg")));
    }
}
