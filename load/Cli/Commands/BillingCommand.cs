using System.CommandLine;
using System.CommandLine.Help;
using Billing.Cli.Arguments;
using Billing.Cli.Background;
using Billing.Cli.Commands.Measurements;
using Billing.LocalStack;
using Billing.Measuring.Bursts;
using Billing.Operator;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary>The command line of <c>./billing</c>.</summary>
internal static class BillingCommand
{
    public static Command Create(IAnsiConsole console, params IEnumerable<Command> further)
    {
        // Not a RootCommand, whose name would be that of the program file.
        var root = new Command("billing", "The billing platform on this machine.")
        {
            Run(console), Up(console), Status(console), Logs(), Down(console), Keep(console),
            new HelpOption(),
            new VersionOption(),
        };
        Command[] laboratory =
        [
            ChaosCommand.Create(console), MisuseCommand.Create(console), SimulateCommand.Create(console),
            MutantsCommand.Create(console),
            .. MeasuringCommands.Create(console), BackfillCommand.Create(console),
            TestCommand.Create(), TestCommand.CreateBench(), PackageCommand.Create(), .. further,
        ];
        foreach (var command in OperatorCommands.Create(console).Concat(laboratory))
        {
            root.Add(command);
        }
        return root;
    }

    private static Command Run(IAnsiConsole console)
    {
        var system = new SystemFlags("the journals, with --targets", usesEventStore: true);
        var hosts = ListFlags.Hosts(
            "--client-hosts",
            "With --targets, the machines that run the clients over SSH, with the released client in "
                + "/opt/billing/client");
        var clients = Flags.Number("--clients", "Load-generating clients", 3, 1, 1000);
        var requests = Flags.Number("--requests", "Payments that each client sends at once", 5000, 1, 10_000_000);
        var balances = Flags.Number(
            "--balances", "Balance checks that each client sends at the same time", 500, 0, 10_000_000);
        var mix = Flags.Number(
            "--mix", "Percentage of the payments that are also authorised, captured, voided, given back and looked up",
            0, 0, 100);
        var warmUp = Flags.Number("--warm-up", "Warm-up payments of each client, not measured", 1000, 0, 1_000_000);
        var report = MeasurementFlags.Report();
        var command = new Command(
            "run",
            "Runs the billing prototype's experiment: starts the stack, sends the payments, prints the results and the "
                + "audit, and stops the stack.")
        {
            clients, requests, balances, mix, warmUp, report, hosts,
        };
        system.AddTo(command);
        command.Validators.Add(result =>
        {
            if (result.GetResult(hosts) is { Implicit: false } && !system.HasTargets(result))
            {
                result.AddError(
                    "--client-hosts is for --targets: the clients of a stack that the command starts run "
                    + "on this machine.");
            }
        });
        return command.Does((parsed, cancellationToken) => new BurstRun(
            new RunOptions
            {
                System = system.Read(parsed, "run", TimeProvider.System),
                ClientHosts = parsed.GetValue(hosts) ?? [],
                Clients = parsed.GetValue(clients),
                Requests = parsed.GetValue(requests),
                Balances = parsed.GetValue(balances),
                Mix = parsed.GetValue(mix),
                WarmUp = parsed.GetValue(warmUp),
                Report = parsed.GetValue(report),
            },
            console, TimeProvider.System).RunAsync(cancellationToken));
    }

    private static Command Up(IAnsiConsole console)
    {
        var stack = new StackFlags();
        var port = Flags.Number(
            "--port", "Port of the first proxy; the other proxies use the next ports; 0 for free ports", 0, 0, 65_000);
        var rest = Flags.Number(
            "--rest-port", "REST port of the first proxy; the other proxies use the next ports; 0 for free ports",
            0, 0, 65_000);
        var tls = new Option<bool>("--tls")
        {
            Description =
                "TLS and authentication of callers, with certificates and a token key that are created for the stack",
        };
        var monitoring =
            new Option<bool>("--monitoring") { Description = "Also start Prometheus, which scrapes every service" };
        var webhook = Flags.Text(
            "--webhook", "Also send every event to this URL, signed; http and loopback addresses are allowed", "URL")
            .Refuse(text => Uri.TryCreate(text, UriKind.Absolute, out var url) && url.Scheme is "http" or "https"
                ? null
                : $"--webhook must be a URL such as http://localhost:9000/; it is '{text}'.");
        var command = new Command("up", "Starts the stack in the background.") { port, rest, tls, monitoring, webhook };
        stack.AddTo(command);
        return command.Does((parsed, cancellationToken) => new BackgroundStack(console).UpAsync(
            stack.Read(parsed) with
            {
                Port = parsed.GetValue(port),
                RestPort = parsed.GetValue(rest),
                Secured = parsed.GetValue(tls),
                Webhook = parsed.GetValue(webhook) is { } url ? WebhookTarget.New(url) : null,
            },
            parsed.GetValue(monitoring), cancellationToken));
    }

    private static Command Status(IAnsiConsole console) => new Command("status", "Shows the stack in the background.")
        .Does((_, _) => new BackgroundStack(console).StatusAsync());

    private static Command Logs()
    {
        var names = new Argument<string[]>("names")
        {
            Description = "Names of processes, as status shows them; all by default",
            HelpName = "NAME",
            Arity = ArgumentArity.ZeroOrMore,
        };
        var follow = new Option<bool>("--follow", "-f") { Description = "Print new lines too, until Ctrl-C" };
        return new Command("logs", "Prints the logs of the stack in the background.") { names, follow }.Does(
            (parsed, cancellationToken) =>
                StackLogs.PrintAsync(parsed.GetValue(names) ?? [], parsed.GetValue(follow), cancellationToken));
    }

    private static Command Down(IAnsiConsole console) =>
        new Command("down", "Stops the stack in the background and deletes its data.")
            .Does((_, _) => new BackgroundStack(console).DownAsync());

    private static Command Keep(IAnsiConsole console) =>
        new Command("keep", "Restarts services of the stack in the background when they end.") { Hidden = true }
            .Does((_, cancellationToken) => new Keeper(console, TimeProvider.System).RunAsync(cancellationToken));
}
