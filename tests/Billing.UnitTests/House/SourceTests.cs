using System.Text.RegularExpressions;

namespace Billing.UnitTests.House;

public sealed partial class SourceTests
{
    private const int LinesMax = 400;
    private const int FilesMax = 15;

    [Theory]
    [InlineData("src")]
    [InlineData("load")]
    [InlineData("polyfills")]
    public void No_source_file_is_longer_than_400_lines(string folder) =>
        Assert.DoesNotContain(Repository.Files(folder, "*.cs"), file => Repository.Lines(file).Length > LinesMax);

    /// <summary>But for the SDK, whose folders are parts of the one namespace that its users see.</summary>
    [Theory]
    [InlineData("src")]
    [InlineData("load")]
    public void A_folder_has_at_most_15_files_and_its_name_is_their_namespace(string folder)
    {
        var files = Repository.Files(folder, "*.cs").GroupBy(file => Path.GetDirectoryName(file)!).ToList();
        var misnamed =
            from file in files.SelectMany(file => file)
            where Path.GetDirectoryName(file) is not ("src/Client/Calls" or "src/Client/Streams")
            let expected = "namespace Billing." + string.Join('.', Path.GetDirectoryName(file)!.Split('/').Skip(1)) + ";"
            where Repository.Lines(file).FirstOrDefault(line => line.StartsWith("namespace ", StringComparison.Ordinal)) is { } line && line != expected
            select $"{file}: not {expected}";

        Assert.Empty(misnamed);
        Assert.DoesNotContain(files, files => files.Count() > FilesMax);
    }

    [Theory]
    [InlineData("src")]
    [InlineData("load")]
    [InlineData("polyfills")]
    [InlineData("tests")]
    public void No_type_is_called_a_manager_a_helper_or_utils(string folder)
    {
        var named =
            from file in Repository.Files(folder, "*.cs")
            from line in Repository.Lines(file)
            let match = VagueType().Match(line)
            where match.Success
            select $"{file}: {match.Groups[1].Value}";
        Assert.Empty(named);
    }

    /// <summary>BenchmarkDotNet derives from the class of a benchmark and silently ignores a sealed class.</summary>
    [Fact]
    public void No_benchmark_is_sealed()
    {
        var benchmarks = Repository.Files("load/Benchmarks", "*.cs").Where(file => Repository.Lines(file).Any(line => line.Trim() == "[Benchmark]")).ToList();
        Assert.NotEmpty(benchmarks);
        Assert.DoesNotContain(benchmarks, file => Repository.Lines(file).Any(line => line.StartsWith("public sealed class", StringComparison.Ordinal)));
    }

    [Fact]
    public void The_source_files_are_found() => Assert.True(Repository.Files("src", "*.cs").Count() > 50);

    [GeneratedRegex(@"\b(?:class|record|struct|interface|enum)\s+(\w*(?:Manager|Helpers?|Utils?))\b")]
    private static partial Regex VagueType();
}
