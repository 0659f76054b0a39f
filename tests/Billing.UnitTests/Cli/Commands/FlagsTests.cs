using System.CommandLine;
using Billing.Cli.Arguments;
using Billing.Cli.Commands;
using Billing.LocalStack;
using Spectre.Console;

namespace Billing.UnitTests.Cli.Commands;

public sealed class FlagsTests
{
    [Theory]
    [InlineData("run")]
    [InlineData(
        "run --clients 1 --proxies 1 --payment-backends 1 --balance-backends 1 --requests 1 --balances 0 --warm-up 0")]
    [InlineData("run --brokers 3 --partitions 7 --jitter on --kafka embedded --postgres auto --report out.json")]
    [InlineData("run --kafka a:9092,b:9093")]
    [InlineData("run --transport kafka --kafka embedded")]
    [InlineData("run --transport direct")]
    [InlineData("run --partitions 12")]
    [InlineData("run --cpus 0.5")]
    [InlineData("run --mix 100")]
    [InlineData("run --transport direct --protocol rpcx")]
    [InlineData("run --postgres Host=localhost;Database=billing;Username=billing")]
    [InlineData("run --postgres-replicas 2 --postgres auto")]
    [InlineData("chaos --power-loss --postgres-replicas 1")]
    [InlineData("up --port 5000 --rest-port 8080")]
    [InlineData("status")]
    [InlineData("down")]
    [InlineData("audit one.csv two.csv")]
    public void A_valid_command_line_is_accepted(string line) => Assert.Empty(Parse(line).Errors);

    [Theory]
    [InlineData("--clients", "0")]
    [InlineData("--clients", "1001")]
    [InlineData("--clients", "-1")]
    [InlineData("--clients", "three")]
    [InlineData("--clients", "99999999999")]
    [InlineData("--requests", "0")]
    [InlineData("--requests", "10000001")]
    [InlineData("--balances", "-1")]
    [InlineData("--mix", "-1")]
    [InlineData("--mix", "101")]
    [InlineData("--mix", "half")]
    [InlineData("--warm-up", "1000001")]
    [InlineData("--proxies", "0")]
    [InlineData("--proxies", "101")]
    [InlineData("--payment-backends", "0")]
    [InlineData("--balance-backends", "101")]
    [InlineData("--cpus", "0")]
    [InlineData("--cpus", "10000")]
    [InlineData("--cpus", "half")]
    [InlineData("--brokers", "2")]
    [InlineData("--brokers", "0")]
    [InlineData("--brokers", "three")]
    [InlineData("--partitions", "-1")]
    [InlineData("--partitions", "1001")]
    [InlineData("--jitter", "maybe")]
    [InlineData("--jitter", "ON")]
    [InlineData("--transport", "pigeon")]
    [InlineData("--postgres-replicas", "0")]
    [InlineData("--postgres-replicas", "4")]
    [InlineData("--postgres-replicas", "two")]
    [InlineData("--kafka", "localhost")]
    [InlineData("--kafka", "localhost:")]
    [InlineData("--kafka", "localhost:99999")]
    [InlineData("--kafka", "a:9092,b")]
    [InlineData("--postgres", "nonsense")]
    [InlineData("--postgres", "Database=billing")]
    [InlineData("--postgres", "Host=localhost;Colour=red")]
    public void A_bad_value_is_an_error_that_names_the_option_and_the_value(string option, string value)
    {
        var errors = Root().Parse(["run", option, value]).Errors;
        Assert.NotEmpty(errors);
        Assert.Contains(errors, e => e.Message.Contains(option, StringComparison.Ordinal)
            && e.Message.Contains(value, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("--clients")]
    [InlineData("--kafka")]
    [InlineData("--jitter")]
    public void A_missing_value_is_an_error_that_names_the_option(string option) =>
        Assert.Contains(
            Root().Parse(["run", option]).Errors, e => e.Message.Contains(option, StringComparison.Ordinal));

    [Theory]
    [InlineData("run --colour red", "--colour")]
    [InlineData("run --port 5000", "--port")]
    [InlineData("run --rest-port 5000", "--rest-port")]
    [InlineData("up --rest-port 70000", "--rest-port")]
    [InlineData("status --clients 3", "--clients")]
    [InlineData("fly", "fly")]
    [InlineData("chaos --transport direct", "--transport")]
    [InlineData("run --transport direct --kafka embedded", "--kafka")]
    [InlineData("run --transport direct --partitions 5", "--partitions")]
    [InlineData("run --protocol rpcx", "--protocol")]
    [InlineData("run --postgres-replicas 2 --postgres Host=h", "--postgres-replicas")]
    [InlineData("chaos --postgres-replicas 2 --power-loss", "--power-loss")]
    [InlineData("run --transport direct --protocol soap", "soap")]
    public void An_option_or_command_that_is_unknown_or_out_of_place_is_an_error_that_names_it(
        string line, string named) =>
        Assert.Contains(Parse(line).Errors, e => e.Message.Contains(named, StringComparison.Ordinal));

    [Theory]
    [InlineData("sweep static --connections 0", "--connections must be between")]
    [InlineData("sweep static --protocols unary,soap", "--protocols: 'soap' is not one of")]
    [InlineData("sweep dynamic --targets nowhere", "--targets: 'nowhere' is not an address")]
    [InlineData(
        "sweep static --targets http://127.0.0.1:1 --jitter on", "--jitter applies to a stack that the command starts")]
    [InlineData("compare paper --requests 5000,0", "--requests: '0' is neither a number from")]
    [InlineData("compare eda --rounds 0", "--rounds must be between")]
    [InlineData("compare rpc --runs 1", "--runs must be between")]
    public void A_bad_value_for_a_command_that_measures_is_an_error_that_names_the_option(string line, string named) =>
        Assert.Contains(Parse(line).Errors, e => e.Message.Contains(named, StringComparison.OrdinalIgnoreCase));

    [Theory]
    [InlineData("verify --postgres nonsense", "--postgres: 'nonsense' is not a connection string")]
    [InlineData(
        "audit --who visa/a --postgres one:Host=h --postgres two:Colour=red",
        "--postgres: 'two:Colour=red' is not a connection string")]
    [InlineData("replay --since yesterday", "--since must be a time such as")]
    public void A_bad_value_for_a_command_that_reads_the_event_store_is_an_error_that_names_the_option(
        string line, string named) =>
        Assert.Contains(Parse(line).Errors, e => e.Message.Contains(named, StringComparison.Ordinal));

    [Fact]
    public void An_audit_without_journals_is_an_error() => Assert.NotEmpty(Parse("audit").Errors);

    [Fact]
    public void Every_option_of_a_stack_is_read()
    {
        var (stack, command) = StackCommand();
        var parsed = command.Parse(
            "--proxies 1 --payment-backends 2 --balance-backends 4 --brokers 3 --partitions 7 --jitter on --kafka a:1 "
            + "--postgres Host=h");
        Assert.Empty(parsed.Errors);
        Assert.Equal(
            new StackOptions
            {
                Proxies = 1,
                PaymentBackends = 2,
                BalanceBackends = 4,
                Brokers = 3,
                Partitions = 7,
                Jitter = true,
                Kafka = "a:1",
                Postgres = "Host=h",
            },
            stack.Read(parsed));
    }

    [Fact]
    public void The_options_of_the_direct_transport_are_read()
    {
        var (stack, command) = StackCommand();
        Assert.Equal(
            new StackOptions { Transport = "direct", Protocol = "rpcx" },
            stack.Read(command.Parse("--transport direct --protocol rpcx")));
    }

    [Fact]
    public void Without_options_a_stack_is_the_default_one()
    {
        var (stack, command) = StackCommand();
        Assert.Equal(new StackOptions(), stack.Read(command.Parse("")));
    }

    private static (StackFlags Stack, RootCommand Command) StackCommand()
    {
        var stack = new StackFlags();
        var command = new RootCommand();
        stack.AddTo(command);
        return (stack, command);
    }

    private static ParseResult Parse(string line) => Root().Parse(line);

    private static Command Root()
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) });
        return BillingCommand.Create(console);
    }
}
