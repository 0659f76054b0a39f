using System.Text.RegularExpressions;
using System.Xml;
using System.Xml.Linq;

namespace Billing.Cli.Testing;

/// <summary>What a test program did.</summary>
/// <param name="Failed">Number of tests that failed, and of errors outside of tests.</param>
/// <param name="Classes">The seconds of each test class: the sum of its tests, without what they share
/// (fixtures).</param>
/// <param name="Notes">What to print even if all is well: why tests were skipped, and what was
/// simulated and fuzzed.</param>
/// <param name="Failures">Each failed test with its message.</param>
internal sealed partial record TestReport(
    int Passed, int Failed, int Skipped, IReadOnlyDictionary<string, double> Classes,
    IReadOnlyList<string> Notes, IReadOnlyList<string> Failures)
{
    /// <summary>Reads a program's report. A program that ends badly without a failed test, or without a
    /// report, is one failure.</summary>
    public static TestReport Read(string file, int exitCode)
    {
        XElement[] assemblies;
        try
        {
            assemblies = [.. XDocument.Load(file).Descendants("assembly")];
        }
        catch (Exception e) when (e is IOException or XmlException)
        {
            assemblies = [];
        }
        var failed = Sum(assemblies, "failed") + Sum(assemblies, "errors");
        var tests = assemblies.SelectMany(assembly => assembly.Descendants("test")).ToList();
        return new TestReport(
            Sum(assemblies, "passed"), failed == 0 && (exitCode != 0 || assemblies.Length == 0) ? 1 : failed,
            Sum(assemblies, "skipped"),
            tests.GroupBy(test => (string?)test.Attribute("type") ?? "").ToDictionary(
                tests => tests.Key, tests => tests.Sum(test => (double?)test.Attribute("time") ?? 0),
                StringComparer.Ordinal),
            [.. tests.SelectMany(NotesOf)],
            [
                .. assemblies.Descendants("failure").Select(failure =>
                    $"{(string?)failure.Parent!.Attribute("name")}: {((string?)failure.Element("message"))?.Trim()}"),
            ]);
    }

    private static IEnumerable<string> NotesOf(XElement test)
    {
        if (test.Element("reason") is { } reason)
        {
            yield return $"  {(string?)test.Attribute("name")} [SKIP]: {reason.Value}";
        }
        // Which schedules and inputs were tried depends on the day.
        if (test.Element("output") is { } output && Tried().Match(output.Value) is { Success: true } tried)
        {
            yield return tried.Value;
        }
    }

    private static int Sum(XElement[] assemblies, string count) =>
        assemblies.Sum(assembly => int.Parse((string?)assembly.Attribute(count) ?? "0"));

    [GeneratedRegex("^(?:Simulated|Fuzzed) [0-9].*", RegexOptions.Multiline)]
    private static partial Regex Tried();
}
