using System.CommandLine;
using Billing.Cli.Commands.Measurements;
using Billing.Driver;
using Billing.LocalStack;
using Billing.Measuring.Profiling;
using Spectre.Console;

namespace Billing.UnitTests.Cli.Commands;

public sealed class ProfileCommandTests
{
    [Theory]
    [InlineData("--in-flight 1,0", "--in-flight: '0' is not a whole number between 1 and 10000.")]
    [InlineData("--in-flight many", "--in-flight: 'many' is not a whole number between 1 and 10000.")]
    [InlineData("--proxies 0", "--proxies must be between 1 and 100; it is 0.")]
    [InlineData("--payment-backends x", "--payment-backends must be between 1 and 100; it is x.")]
    [InlineData("--balance-backends 101", "--balance-backends must be between 1 and 100; it is 101.")]
    [InlineData("--partitions -1", "--partitions must be between 0 and 1000; it is -1.")]
    [InlineData("--during 0s", "--during must be a time such as 30s, 5m or 1h, from 1s to 24h; it is '0s'.")]
    [InlineData("--warm-up soon", "--warm-up must be a time such as 30s, 5m or 1h, from 0s to 24h; it is 'soon'.")]
    public void An_invalid_value_is_rejected_by_its_option(string arguments, string error) =>
        Assert.Equal(error, Assert.Single(Parse(arguments).Errors).Message);

    [Theory]
    [InlineData("")]
    [InlineData("--in-flight 1,200,1000 --proxies 2 --payment-backends 1 --balance-backends 1 --partitions 3 --during 2s --warm-up 0 --out here")]
    public void Valid_values_are_accepted(string arguments) => Assert.Empty(Parse(arguments).Errors);

    [Theory]
    [InlineData(1, 3, 1)]
    [InlineData(5, 3, 5)]
    [InlineData(200, 1, 2)]
    [InlineData(200, 3, 6)]
    [InlineData(1000, 3, 6)]
    public void As_many_payments_are_in_flight_as_requested(int inFlight, int proxies, int connections)
    {
        var options = new ProfileOptions { Stack = new StackOptions(), InFlight = [inFlight], During = TimeSpan.FromSeconds(15), WarmUp = TimeSpan.Zero };

        var spec = PaymentProfile.Spec(options, [.. Enumerable.Repeat("http://a", proxies)], inFlight);

        Assert.Equal(connections, spec.Connections);
        Assert.Equal(inFlight, Assert.IsType<LoadShape.Closed>(spec.Shape).Callers);
    }

    private static ParseResult Parse(string arguments) =>
        ProfileCommand.Create(AnsiConsole.Console).Parse(arguments.Split(' ', StringSplitOptions.RemoveEmptyEntries));
}
