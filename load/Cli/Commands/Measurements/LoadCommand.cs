using System.CommandLine;
using Billing.Cli.Arguments;
using Billing.Measuring.Scenarios;
using Billing.Operator.Arguments;
using Billing.ScenarioFiles;
using Spectre.Console;

namespace Billing.Cli.Commands.Measurements;

/// <summary><c>./billing load SCENARIO</c>: NBomber against a stack of its own, or against running proxies.</summary>
internal static class LoadCommand
{
    private const int RateMax = 100_000;

    public static Command Create(IAnsiConsole console) => new(
        "load",
        "Runs a load scenario against the platform and measures it; can fail on thresholds. "
            + "NBomber 4.1.2 runs the scenarios (Apache-2.0; from version 5 on, organisations need a licence).")
    {
        Steady(console, "payments", "Payments, at a rate or by a number of callers.", plan => plan),
        Steady(
            console, "balances", "Balance checks, at a rate or by a number of callers.",
            plan => plan with { PaymentPercent = 0 }),
        Steady(
            console, "refunds", "Payments that are given back, at a rate or by a number of callers.",
            plan => plan with { Following = Following.Refund }),
        Steady(
            console, "captures", "Authorisations that are captured, at a rate or by a number of callers.",
            plan => plan with { Following = Following.Capture }),
        Steady(
            console, "look-ups", "Payments that are looked up, at a rate or by a number of callers.",
            plan => plan with { Following = Following.LookUp }),
        Mixed(console),
        Burst(console),
        Ramp(console),
        Soak(console),
    };

    private static Command Steady(
        IAnsiConsole console, string name, string description, Func<LoadPlan, LoadPlan> complete)
    {
        var command = new Command(name, description);
        var pace = new PaceFlags(command);
        return Complete(command, console, pace.Read, (_, plan) => complete(plan));
    }

    private static Command Mixed(IAnsiConsole console)
    {
        var percent = Flags.Number(
            "--payment-percent", "Percentage of calls that are payments; the others are balance checks", 80, 1, 99);
        var command =
            new Command("mixed", "Payments and balance checks, at a rate or by a number of callers.") { percent };
        var pace = new PaceFlags(command);
        return Complete(
            command, console, pace.Read, (parsed, plan) => plan with { PaymentPercent = parsed.GetValue(percent) });
    }

    private static Command Burst(IAnsiConsole console)
    {
        var calls = Flags.Number("--at-once", "Number of payments, all sent at the same time", 15_000, 1, 1_000_000);
        var clients = Flags.Number(
            "--clients", "Number of clients that share the payments, each with its own connections", 3, 1, 100);
        var command = new Command(
            "burst",
            "A burst of as many payments as the billing prototype's clients sent together.") { calls, clients };
        return Complete(
            command, console, parsed => new LoadShape.Burst(parsed.GetValue(calls)),
            (parsed, plan) => plan with { Clients = parsed.GetValue(clients) });
    }

    private static Command Ramp(IAnsiConsole console)
    {
        var from = Flags.Number("--from", "Payments per second at the beginning", 100, 1, RateMax);
        var to = Flags.Number("--to", "Payments per second at the end", 500, 1, RateMax);
        var during = DurationFlag.During("Duration of the ramp", TimeSpan.FromMinutes(1));
        var command = new Command(
            "ramp", "Payments at a rate that grows linearly, sent without waiting for answers.") { from, to, during };
        return Complete(
            command, console,
            parsed => new LoadShape.Ramp(parsed.GetValue(from), parsed.GetValue(to), parsed.GetValue(during)),
            (_, plan) => plan);
    }

    private static Command Soak(IAnsiConsole console)
    {
        var rate = Flags.Number("--rate", "Payments per second", 200, 1, RateMax);
        var during = DurationFlag.During("Duration", TimeSpan.FromMinutes(30));
        var command = new Command(
            "soak", "Payments at a constant rate for a long time, sent without waiting for answers.") { rate, during };
        return Complete(
            command, console, parsed => new LoadShape.Open(parsed.GetValue(rate), parsed.GetValue(during)),
            (_, plan) => plan);
    }

    private static Command Complete(
        Command command, IAnsiConsole console, Func<ParseResult, LoadShape> shape,
        Func<ParseResult, LoadPlan, LoadPlan> complete)
    {
        var flags = new LoadFlags();
        flags.AddTo(command);
        command.SetAction((parsed, cancellationToken) => Guarded.RunAsync(() =>
        {
            var plan = complete(parsed, flags.Read(parsed, command.Name, shape(parsed), TimeProvider.System));
            return new LoadRun(plan, console).RunAsync(cancellationToken);
        }));
        return command;
    }

    /// <summary>Options for the pace: either a rate of calls that do not wait for answers, or a number
    /// of callers that do.</summary>
    private sealed class PaceFlags
    {
        private readonly Option<int> _rate = Flags.Number(
            "--rate", "Calls per second, sent without waiting for answers (open model)", 0, 1, RateMax);
        private readonly Option<int> _copies = Flags.Number(
            "--copies", "Callers, each with one call at a time (closed model)", 0, 1, RateMax);
        private readonly Option<TimeSpan> _during = DurationFlag.During("Duration", TimeSpan.FromSeconds(30));

        public PaceFlags(Command command)
        {
            command.Add(_rate);
            command.Add(_copies);
            command.Add(_during);
            command.Validators.Add(result =>
            {
                if (result.GetResult(_rate) is { Implicit: false } == result.GetResult(_copies) is { Implicit: false })
                {
                    result.AddError("Give either --rate or --copies.");
                }
            });
        }

        public LoadShape Read(ParseResult parsed) => parsed.GetValue(_rate) is var rate and > 0
            ? new LoadShape.Open(rate, parsed.GetValue(_during))
            : new LoadShape.Closed(parsed.GetValue(_copies), parsed.GetValue(_during));
    }
}
