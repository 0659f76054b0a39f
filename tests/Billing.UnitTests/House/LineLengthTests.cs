using System.Text.RegularExpressions;

namespace Billing.UnitTests.House;

/// <summary>Every line of code, comments, scripts, settings and documents ends at 120 columns. What .gitattributes
/// calls generated is written by programs, and may have longer ones.</summary>
public sealed partial class LineLengthTests : IDisposable
{
    private const int ColumnsMax = 120;

    // An address, a hash or bytes as text. Nothing breaks a word, so one that takes most of a line makes it a long one.
    private const int WordMax = 80;

    private readonly string _folder = Directory.CreateTempSubdirectory("billing-lines-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task No_line_is_longer_than_120_columns()
    {
        Assert.SkipUnless(GitGrep.IsPossible, "this is no git repository");

        var found = await LongAsync(Repository.Root);

        Assert.True(found.Length == 0, $"{found.Length} lines are too long:\n{string.Join('\n', found)}");
    }

    [Theory]
    [InlineData("a.md", 120, 1, 0)]
    [InlineData("a.md", 121, 1, 1)]
    [InlineData("a.cs", 200, 10, 1)]
    [InlineData("a.cs", 200, 80, 0)]
    public async Task A_line_is_too_long_if_it_could_be_broken(string file, int columns, int word, int count)
    {
        var words = string.Concat(Enumerable.Range(1, columns - word).Select(i => i % 4 == 0 ? ' ' : 'é'));
        await WriteAsync(file, $"first\n{words}{new string('w', word)}\n");

        Assert.Equal(
            count == 0 ? [] : [$"{file}:2: {columns} columns"], await LongAsync(_folder, "--no-index"));
    }

    [Theory]
    [InlineData("a.json", "\"name\": ", ",", 0)]
    [InlineData("a.json", "", "", 0)]
    [InlineData("a.json", "{ \"name\": ", " }", 1)]
    [InlineData("a.yml", "\"name\": ", "", 1)]
    public async Task A_text_in_JSON_has_any_length(string file, string before, string after, int count)
    {
        await WriteAsync(file, $"  {before}\"{string.Join(' ', Enumerable.Repeat("word \\\"", 30))}\"{after}\n");

        Assert.Equal(count, (await LongAsync(_folder, "--no-index")).Length);
    }

    private Task WriteAsync(string file, string text) =>
        File.WriteAllTextAsync(Path.Combine(_folder, file), text, TestContext.Current.CancellationToken);

    private static async Task<string[]> LongAsync(string folder, params string[] options) =>
    [
        .. from found in await GitGrep.FindAsync(
               folder, $".{{{ColumnsMax + 1}}}", [.. options, "--", ":(exclude,attr:linguist-generated)"])
           let parts = found.Split(':', 3)
           // Git may count bytes.
           where parts[2].Length > ColumnsMax && !IsUnbreakable(parts[0], parts[2])
           select $"{parts[0]}:{parts[1]}: {parts[2].Length} columns",
    ];

    private static bool IsUnbreakable(string file, string line) =>
        line.Split(' ').Any(word => word.Length >= WordMax)
        || (file.EndsWith(".json", StringComparison.Ordinal) && JsonText().IsMatch(line));

    // One text, with or without its name.
    [GeneratedRegex("""^\s*("[^"]*": )?"(\\.|[^"\\])*",?$""")]
    private static partial Regex JsonText();
}
