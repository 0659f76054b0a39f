using System.CommandLine;
using Billing.Cli.Commands.Measurements;
using Spectre.Console;

namespace Billing.UnitTests.Cli.Commands;

public sealed class TraceCommandTests
{
    [Theory]
    [InlineData("--rate 0", "--rate must be between 1 and 100000; it is 0.")]
    [InlineData("--during 0", "--during must be a time such as 30s, 5m or 1h, from 1s to 24h; it is '0'.")]
    [InlineData("--rate many", "--rate must be between 1 and 100000; it is many.")]
    [InlineData("--rate 0.5", "--rate must be between 1 and 100000; it is 0.5.")]
    [InlineData("--requests -1", "--requests must be between 0 and 10000000; it is -1.")]
    [InlineData(
        "--targets localhost:5000", "--targets: 'localhost:5000' is not an address of the form http://host:port.")]
    [InlineData(
        "--targets http://a:1,ftp://b:2", "--targets: 'ftp://b:2' is not an address of the form http://host:port.")]
    [InlineData(
        "--targets http://a:1 --jitter on",
        "--jitter applies to a stack that the command starts; with --targets it starts none.")]
    public void An_invalid_value_is_rejected_by_its_option(string arguments, string error) =>
        Assert.Equal(error, Assert.Single(Parse(arguments).Errors).Message);

    [Theory]
    [InlineData("")]
    [InlineData("--during 2m")]
    [InlineData("--requests 100 --rate 50 --connections 8 --out here")]
    [InlineData("--targets http://a:1,http://b:2 --postgres Host=localhost;Database=billing")]
    [InlineData("--kafka embedded --payment-backends 1 --jitter on")]
    public void Valid_values_are_accepted(string arguments) => Assert.Empty(Parse(arguments).Errors);

    private static ParseResult Parse(string arguments) =>
        TraceCommand.Create(AnsiConsole.Console).Parse(arguments.Split(' ', StringSplitOptions.RemoveEmptyEntries));
}
