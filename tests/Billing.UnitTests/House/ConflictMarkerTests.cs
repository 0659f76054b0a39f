namespace Billing.UnitTests.House;

/// <summary>No file of the repository holds what a merge leaves where both sides changed the same lines.</summary>
public sealed class ConflictMarkerTests : IDisposable
{
    private const string Markers = "^(<{7}|[|]{7}|={7}|>{7})( |$)";

    private readonly string _folder = Directory.CreateTempSubdirectory("billing-conflict-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task No_file_holds_the_markers_of_a_merge_conflict()
    {
        Assert.SkipUnless(GitGrep.IsPossible, "this is no git repository");

        Assert.Empty(await GitGrep.FindAsync(Repository.Root, Markers));
    }

    [Theory]
    [InlineData('<', " HEAD")]
    [InlineData('|', " merged common ancestors")]
    [InlineData('=', "")]
    [InlineData('>', " f6310f3")]
    public async Task Each_marker_is_found(char marker, string rest)
    {
        await File.WriteAllTextAsync(
            Path.Combine(_folder, "page.md"), $"one\n{new string(marker, 7)}{rest}\nother\n",
            TestContext.Current.CancellationToken);

        var found = await GitGrep.FindAsync(_folder, Markers, "--no-index");

        Assert.Equal($"page.md:2:{new string(marker, 7)}{rest}", Assert.Single(found));
    }
}
