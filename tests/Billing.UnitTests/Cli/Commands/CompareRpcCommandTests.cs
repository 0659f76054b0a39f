using System.CommandLine;
using Billing.Cli.Commands.Measurements;
using Spectre.Console;

namespace Billing.UnitTests.Cli.Commands;

public sealed class CompareRpcCommandTests
{
    [Theory]
    [InlineData("--threads 0", "--threads: '0' is neither a number from 1 to 100000 nor a range of them.")]
    [InlineData("--requests 10,x", "--requests: 'x' is neither a number from 1 to 100000 nor a range of them.")]
    [InlineData("--runs 1", "--runs must be between 2 and 1000, because the first is discarded; it is 1.")]
    [InlineData("--connections 0", "--connections must be between 1 and 1000; it is 0.")]
    public void An_invalid_value_is_rejected_by_its_option(string arguments, string error) =>
        Assert.Equal(error, Assert.Single(Parse(arguments).Errors).Message);

    [Theory]
    [InlineData("")]
    [InlineData("--quick")]
    [InlineData("--full")]
    [InlineData("--quick --threads 10,20 --requests 5 --runs 3 --connections 2 --out here")]
    public void Valid_values_are_accepted(string arguments) => Assert.Empty(Parse(arguments).Errors);

    private static ParseResult Parse(string arguments) =>
        CompareRpcCommand.Create(AnsiConsole.Console)
            .Parse(arguments.Split(' ', StringSplitOptions.RemoveEmptyEntries));
}
