using System.CommandLine;
using Billing.Cli.Commands.Measurements;
using Spectre.Console;

namespace Billing.UnitTests.Cli.Commands;

public sealed class LoadCommandTests
{
    [Theory]
    [InlineData("payments --rate 100")]
    [InlineData("payments --copies 8 --during 5s --warm-up 0 --accounts 10")]
    [InlineData("balances --rate 100 --during 1m --out folder")]
    [InlineData("mixed --copies 4 --payment-percent 20")]
    [InlineData("refunds --rate 10")]
    [InlineData("captures --copies 4")]
    [InlineData("look-ups --rate 10 --during 5s")]
    [InlineData("burst --at-once 300 --clients 3")]
    [InlineData("ramp --from 100 --to 500 --during 20s")]
    [InlineData("soak --rate 50 --during 24h")]
    [InlineData("soak --max-error-percent 0.5 --max-p50-ms 20 --max-p99-ms 250.5 --min-rps 100")]
    [InlineData(
        "payments --rate 1 --proxies 2 --payment-backends 1 --balance-backends 1 --brokers 3 --jitter on --kafka "
        + "embedded --postgres auto")]
    [InlineData("payments --rate 1 --targets http://localhost:5000,https://other:5001")]
    public void A_valid_command_line_is_accepted(string line) => Assert.Empty(Parse(line).Errors);

    [Theory]
    [InlineData("payments", "--rate")]
    [InlineData("payments", "--copies")]
    [InlineData("mixed --rate 1 --copies 1", "--copies")]
    [InlineData("payments --rate 0", "--rate")]
    [InlineData("payments --rate 100001", "--rate")]
    [InlineData("payments --rate fast", "--rate")]
    [InlineData("balances --copies 0", "--copies")]
    [InlineData("captures", "--copies")]
    [InlineData("payments --rate 1 --during 0s", "--during")]
    [InlineData("payments --rate 1 --during 999ms", "--during")]
    [InlineData("payments --rate 1 --during 25h", "--during")]
    [InlineData("payments --rate 1 --during 5x", "--during")]
    [InlineData("payments --rate 1 --during -5s", "--during")]
    [InlineData("payments --rate 1 --during 5sm", "--during")]
    [InlineData("payments --rate 1 --during 1e30", "--during")]
    [InlineData("payments --rate 1 --warm-up soon", "--warm-up")]
    [InlineData("payments --rate 1 --accounts 0", "--accounts")]
    [InlineData("mixed --rate 1 --payment-percent 100", "--payment-percent")]
    [InlineData("burst --at-once 0", "--at-once")]
    [InlineData("burst --rate 1", "--rate")]
    [InlineData("ramp --from 0", "--from")]
    [InlineData("ramp --to 0", "--to")]
    [InlineData("soak --copies 3", "--copies")]
    [InlineData("soak --max-error-percent 101", "--max-error-percent")]
    [InlineData("soak --max-p50-ms NaN", "--max-p50-ms")]
    [InlineData("soak --max-p99-ms -1", "--max-p99-ms")]
    [InlineData("soak --min-rps many", "--min-rps")]
    [InlineData("soak --proxies 0", "--proxies")]
    [InlineData("soak --targets localhost:5000", "--targets")]
    [InlineData("soak --targets http://localhost:5000,nowhere", "--targets")]
    [InlineData("soak --targets http://localhost:5000 --kafka embedded", "--kafka")]
    [InlineData("soak --targets http://localhost:5000 --jitter on", "--jitter")]
    [InlineData("dance", "dance")]
    public void A_bad_value_is_an_error_that_names_the_option(string line, string named) =>
        Assert.Contains(Parse(line).Errors, e => e.Message.Contains(named, StringComparison.Ordinal));

    private static ParseResult Parse(string line) =>
        new RootCommand { LoadCommand.Create(AnsiConsole.Console) }.Parse("load " + line);
}
