using System.CommandLine;
using Billing.Operator.Arguments;

namespace Billing.UnitTests.Cli.Commands;

public sealed class ListFlagsTests
{
    private readonly Option<int[]> _shards = ListFlags.Numbers("--shards", "Shards to move", [], 0, 63);

    [Theory]
    [InlineData("7", "7")]
    [InlineData("0-3,9", "0 1 2 3 9")]
    [InlineData("62-63", "62 63")]
    [InlineData("5-5", "5")]
    public void A_list_has_numbers_and_ranges(string text, string numbers) =>
        Assert.Equal(numbers, string.Join(' ', Parse(text).GetValue(_shards)!));

    [Theory]
    [InlineData("64")]
    [InlineData("0-64")]
    [InlineData("3-1")]
    [InlineData("-1")]
    [InlineData("1-")]
    [InlineData("1-2-3")]
    [InlineData("many")]
    public void What_is_neither_is_named(string text) => Assert.Equal(
        $"--shards: '{text}' is neither a number from 0 to 63 nor a range of them.",
        Assert.Single(Parse(text).Errors).Message);

    private ParseResult Parse(string text) => new RootCommand { _shards }.Parse(["--shards=" + text]);
}
