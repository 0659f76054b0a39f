using System.CommandLine;
using System.CommandLine.Help;
using Billing.Auditing;
using Billing.Cli.Background;
using Billing.LocalStack.Processes;
using Billing.Measuring.Bursts;
using Billing.Messaging.Hosting;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary>The command line of <c>./billing</c>.</summary>
internal static class BillingCommand
{
    /// <param name="console">Where to print.</param>
    /// <param name="further">Commands that build on these.</param>
    public static Command Create(IAnsiConsole console, params IEnumerable<Command> further)
    {
        // Not a RootCommand: that would call itself by its file's name.
        var root = new Command("billing", "The billing platform on this machine.")
        {
            Run(console), ChaosCommand.Create(console), SimulateCommand.Create(console), MutantsCommand.Create(console),
            Up(console), Status(console), Logs(), Down(console), TokenCommand.Create(), Keep(console),
            AuditCommand.Create(console),
            RebuildCommand.Create(console), SchemaCommand.Create(console), TopicsCommand.Create(console),
            DeadLettersCommand.Create(console),
            new HelpOption(),
            new VersionOption(),
        };
        foreach (var command in MeasuringCommands.Create(console).Concat(further))
        {
            root.Add(command);
        }
        return root;
    }

    private static Command Run(IAnsiConsole console)
    {
        var stack = new StackFlags();
        var clients = Flags.Number("--clients", "Load-generating clients", 3, 1, 1000);
        var requests = Flags.Number("--requests", "Payments that each client sends at once", 5000, 1, 10_000_000);
        var balances = Flags.Number("--balances", "Balance checks that each client sends with them", 500, 0, 10_000_000);
        var warmUp = Flags.Number("--warm-up", "Payments that each client sends before, not measured", 1000, 0, 1_000_000);
        var report = MeasurementFlags.Report();
        var command = new Command("run", "Runs the billing prototype's experiment: starts everything, sends, prints the table and the audit, stops everything.")
        {
            clients, requests, balances, warmUp, report,
        };
        stack.AddTo(command);
        command.SetAction((parsed, cancellationToken) =>
        {
            var options = new RunOptions
            {
                Stack = stack.Read(parsed),
                Clients = parsed.GetValue(clients),
                Requests = parsed.GetValue(requests),
                Balances = parsed.GetValue(balances),
                WarmUp = parsed.GetValue(warmUp),
                CommandLine = MeasurementFlags.CommandLine(parsed),
                Report = parsed.GetValue(report),
            };
            return GuardedAsync(() => new PaperExperiment(options, console, TimeProvider.System).RunAsync(cancellationToken));
        });
        return command;
    }

    private static Command Up(IAnsiConsole console)
    {
        var stack = new StackFlags();
        var port = Flags.Number("--port", "Port of the first proxy, the others on those after it; 0 for free ones", 0, 0, 65_000);
        var rest = Flags.Number("--rest-port", "Port of the first proxy's REST front, the others on those after it; 0 for free ones", 0, 0, 65_000);
        var tls = new Option<bool>("--tls") { Description = "TLS, and callers that have to say who they are, with certificates and a key for tokens of the stack's own" };
        var monitoring = new Option<bool>("--monitoring") { Description = "Start Prometheus too, scraping every service" };
        var command = new Command("up", "Starts the stack in the background.") { port, rest, tls, monitoring };
        stack.AddTo(command);
        command.SetAction((parsed, cancellationToken) => GuardedAsync(() => new BackgroundStack(console).UpAsync(
            stack.Read(parsed) with { Port = parsed.GetValue(port), RestPort = parsed.GetValue(rest), Secured = parsed.GetValue(tls) },
            parsed.GetValue(monitoring), cancellationToken)));
        return command;
    }

    private static Command Status(IAnsiConsole console)
    {
        var command = new Command("status", "Shows the stack in the background.");
        command.SetAction((_, _) => GuardedAsync(new BackgroundStack(console).StatusAsync));
        return command;
    }

    private static Command Logs()
    {
        var names = new Argument<string[]>("names") { Description = "Processes, by the names that status shows; all without", HelpName = "NAME", Arity = ArgumentArity.ZeroOrMore };
        var follow = new Option<bool>("--follow", "-f") { Description = "Print what comes, until Ctrl-C" };
        var command = new Command("logs", "Prints the logs of the stack in the background.") { names, follow };
        command.SetAction((parsed, cancellationToken) => GuardedAsync(
            () => StackLogs.PrintAsync(parsed.GetValue(names) ?? [], parsed.GetValue(follow), Console.Out, cancellationToken)));
        return command;
    }

    private static Command Down(IAnsiConsole console)
    {
        var command = new Command("down", "Stops the stack in the background and deletes its data.");
        command.SetAction((_, _) => GuardedAsync(new BackgroundStack(console).DownAsync));
        return command;
    }

    private static Command Keep(IAnsiConsole console)
    {
        var command = new Command("keep", "Starts services of the stack in the background again when they end.") { Hidden = true };
        command.SetAction((_, cancellationToken) => GuardedAsync(() => new Keeper(console, TimeProvider.System).RunAsync(cancellationToken)));
        return command;
    }

    /// <summary>Runs a command; what a person can put right is one line on standard error.</summary>
    public static async Task<int> GuardedAsync(Func<Task<int>> action)
    {
        try
        {
            return await action();
        }
        catch (Exception e) when (e is StackException or AuditException or StartupException or Confluent.Kafka.KafkaException or Npgsql.NpgsqlException or FormatException or IOException or UnauthorizedAccessException)
        {
            await Console.Error.WriteLineAsync(e.Message);
            return 1;
        }
        catch (OperationCanceledException)
        {
            await Console.Error.WriteLineAsync("Stopped.");
            return 130;
        }
    }
}
