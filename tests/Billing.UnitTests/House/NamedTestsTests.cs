using System.Text.RegularExpressions;

namespace Billing.UnitTests.House;

/// <summary>The tests that the documentation names exist, so that a renamed test does not leave a table of
/// guarantees without proof.</summary>
public sealed partial class NamedTestsTests
{
    private static readonly string[] Methods =
    [
        .. from file in Repository.Files("tests", "*.cs")
           from line in Repository.Lines(file)
           from method in MethodName().Matches(line)
           select $".{Path.GetFileNameWithoutExtension(file)}.{method.Groups["name"].Value}",
    ];

    public static TheoryData<string> Pages =>
    [
        .. Repository.Files("docs", "*.md").Append("README.md").Append("CONTRIBUTING.md"),
    ];

    [Theory]
    [MemberData(nameof(Pages))]
    public void Every_test_that_a_page_names_exists(string page) => Assert.DoesNotContain(
        Repository.Lines(page).SelectMany(line => TestName().Matches(line)).Select(match => match.Groups["name"].Value),
        name => !Exists(name));

    [Fact]
    public void A_renamed_test_is_found()
    {
        Assert.True(Exists("NamedTestsTests.A_renamed_test_..."));
        Assert.True(Exists("A_renamed_test_is_found"));
        Assert.False(Exists("A_renamed_test_is"));
        Assert.False(Exists("OtherTests.A_renamed_test_..."));
        Assert.Contains(
            "FailureTable.A_backend_killed_...",
            TestName().Matches("| `FailureTable.A_backend_killed_...` |").Select(match => match.Groups["name"].Value));
    }

    private static bool Exists(string name)
    {
        var start = "." + name;
        return start.EndsWith("...", StringComparison.Ordinal)
            ? Methods.Any(method => method.Contains(start[..^3], StringComparison.Ordinal))
            : Methods.Any(method => method.EndsWith(start, StringComparison.Ordinal));
    }

    [GeneratedRegex(@"^\s*public .*[ ](?<name>[A-Z][A-Za-z0-9]*_\w+)\(")]
    private static partial Regex MethodName();

    // A sentence with underscores, alone or after a class; three dots stand for the rest of it.
    [GeneratedRegex(@"`(?<name>(?:[A-Z]\w*\.)?[A-Z][A-Za-z]*(?:_[A-Za-z0-9]+)*_(?:[a-z][A-Za-z0-9_]*)?(?:\.\.\.)?)`")]
    private static partial Regex TestName();
}
