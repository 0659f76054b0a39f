using System.Text.RegularExpressions;

namespace Billing.UnitTests.House;

/// <summary>The files and headings that the documents name exist, so that a moved page leaves no dead link.</summary>
public sealed partial class LinkTests
{
    private static readonly string[] Folders = ["docs", "deploy", "examples", "polyfills"];

    public static TheoryData<string> Pages =>
    [
        .. Folders.SelectMany(folder => Repository.Files(folder, "*.md")).Where(page => !page.Contains("node_modules")),
        "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md",
    ];

    [Theory]
    [MemberData(nameof(Pages))]
    public void Every_file_and_heading_that_a_page_names_exists(string page)
    {
        var text = string.Join('\n', Repository.Lines(page));

        Assert.DoesNotContain(Link().Matches(text), link => !Exists(page, link.Groups["target"].Value));
        Assert.DoesNotContain(SourcePath().Matches(text), path => !IsThere(path.Groups["path"].Value));
    }

    [Fact]
    public void A_link_to_nothing_is_found()
    {
        Assert.True(Exists("docs/architecture.md", "operations/README.md#operations"));
        Assert.False(Exists("docs/architecture.md", "operations/README.md#nothing"));
        Assert.False(Exists("docs/architecture.md", "nothing.md"));
        Assert.False(IsThere("src/Nothing.cs"));
        Assert.Equal("a-commit-waits-for-two-disks", Anchor("A `commit` waits, for [two](disks.md) disks!"));
    }

    // A link within the page begins with #.
    private static bool Exists(string page, string target)
    {
        var (file, heading) = target.Split('#') is [var before, var after] ? (before, after) : (target, null);
        var path = file.Length == 0 ? page : Path.Combine(Path.GetDirectoryName(page)!, file);
        return IsThere(path) && (heading is null || Repository.Lines(path).Any(line => IsHeading(line, heading)));
    }

    private static bool IsHeading(string line, string anchor) =>
        line.StartsWith('#') && Anchor(line.TrimStart('#')) == anchor;

    private static bool IsThere(string path) => Path.Exists(Path.Combine(Repository.Root, path));

    // As GitHub makes them.
    private static string Anchor(string heading) =>
        NotInAnchors().Replace(LinkedText().Replace(heading, "$1"), "").Trim().Replace(' ', '-').ToLowerInvariant();

    [GeneratedRegex(@"\]\((?!https?:|mailto:)(?<target>[^)\s]+)\)")]
    private static partial Regex Link();

    // A path without a wildcard, in a folder of sources.
    [GeneratedRegex(@"`(?<path>(?:src|load|tests|eng|docs|examples|polyfills)/[A-Za-z0-9_./-]+)`")]
    private static partial Regex SourcePath();

    [GeneratedRegex(@"\[([^\]]*)\]\([^)]*\)")]
    private static partial Regex LinkedText();

    [GeneratedRegex(@"[^\w\s-]")]
    private static partial Regex NotInAnchors();
}
