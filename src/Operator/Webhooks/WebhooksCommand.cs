using System.CommandLine;
using Billing.Operator.Arguments;
using Billing.Webhooks;
using Microsoft.Extensions.Options;
using Spectre.Console;

namespace Billing.Operator.Webhooks;

/// <summary><c>webhooks</c>: shows which events wait for receivers, sends them again, and gives them up.</summary>
internal static class WebhooksCommand
{
    public static Command Create(IAnsiConsole console) =>
        new("webhooks", "Events that wait for receivers: list, replay, drop.")
        {
            List(console), Replay(console), Drop(console),
        };

    private static Command List(IAnsiConsole console)
    {
        var (postgres, schema) = Database();
        var receiver = Flags.Text("--receiver", "Only this receiver's accounts", "NAME");
        var limit = Flags.Number("--limit", "Failing accounts to list, parked ones first", 50, 1, 100_000);
        var command = new Command(
            "list", "Lists what waits for each receiver, and the accounts whose next event it has not taken.")
        {
            receiver, limit, postgres, schema,
        };
        return command.Does(async (parsed, cancellationToken) =>
        {
            await using var store = await StoreAsync(parsed.GetValue(postgres), parsed.GetValue(schema)!);
            var (states, failing) = await Guarded.AskingPostgresAsync(async () => (
                await store.StatesAsync(cancellationToken),
                await store.FailingAsync(parsed.GetValue(receiver), parsed.GetValue(limit), cancellationToken)));
            if (states.Count == 0)
            {
                console.WriteLine("No events wait.");
                return 0;
            }
            foreach (var state in states)
            {
                console.WriteLine(
                    $"{state.Receiver}: {state.Pending:N0} events wait, the oldest for {Text(state.OldestAge)}; "
                    + $"{state.ParkedAccounts:N0} accounts are parked.");
            }
            if (failing.Count > 0)
            {
                console.Write(Table(failing));
            }
            return 0;
        });
    }

    private static Command Replay(IAnsiConsole console)
    {
        var (postgres, schema) = Database();
        var (receiver, account) = Chosen();
        var command = new Command(
            "replay",
            "Sends the events of failing and parked accounts now, each account's in order, with all "
                + "attempts before it.") { receiver, account, postgres, schema };
        return command.Does(async (parsed, cancellationToken) =>
        {
            await using var store = await StoreAsync(parsed.GetValue(postgres), parsed.GetValue(schema)!);
            var accounts = await Guarded.AskingPostgresAsync(() =>
                store.ReplayAsync(parsed.GetRequiredValue(receiver), parsed.GetValue(account), cancellationToken));
            console.WriteLine($"{accounts:N0} accounts are tried now.");
            return accounts > 0 ? 0 : 1;
        });
    }

    private static Command Drop(IAnsiConsole console)
    {
        var (postgres, schema) = Database();
        var (receiver, account) = Chosen();
        var command = new Command(
            "drop",
            "Gives up the events that wait for a receiver, for example of one that is no longer in the settings: "
                + "they are never sent.") { receiver, account, postgres, schema };
        return command.Does(async (parsed, cancellationToken) =>
        {
            await using var store = await StoreAsync(parsed.GetValue(postgres), parsed.GetValue(schema)!);
            var events = await Guarded.AskingPostgresAsync(
                () => store.DropAsync(parsed.GetRequiredValue(receiver), parsed.GetValue(account), cancellationToken));
            console.WriteLine($"{events:N0} events are given up.");
            return events > 0 ? 0 : 1;
        });
    }

    private static (Option<string?> Postgres, Option<string> Schema) Database() => (
        Flags.Text(
            "--postgres",
            "Connection string of the service's database; by default that of appsettings.json in this folder or of the "
                + "environment (Billing__Webhooks__ConnectionString), else the first database of the stack "
                + "in the background",
            "CONNECTION"),
        new Option<string>("--schema")
        {
            Description = "The schema, Billing:Webhooks:Schema",
            HelpName = "NAME",
            DefaultValueFactory = _ => new WebhookOptions().Schema,
        });

    private static (Option<string> Receiver, Option<string?> Account) Chosen() => (
        new Option<string>("--receiver")
        {
            Description = "The receiver, by its name in the settings",
            HelpName = "NAME",
            Required = true,
        },
        Flags.Text("--account", "Only this account, e.g. visa/acct-42; all by default", "TYPE/ID"));

    private static async Task<WebhookStore> StoreAsync(string? postgres, string schema)
    {
        postgres ??= ServiceSettings.Read()[$"{WebhookOptions.Section}:{nameof(WebhookOptions.ConnectionString)}"];
        postgres ??= (await StackInBackground.ReadAsync())?.Databases.Values.First()
            ?? throw new CommandException("--postgres is missing, and no stack is running.");
        return new WebhookStore(Options.Create(new WebhookOptions { ConnectionString = postgres, Schema = schema }));
    }

    private static Table Table(IReadOnlyList<FailingAccount> failing)
    {
        var table = new Table().Border(TableBorder.Rounded)
            .AddColumns("Receiver", "Account", "Events", "Failures", "For", "Next", "Reason");
        foreach (var account in failing)
        {
            table.AddRow(
                new Text(account.Receiver), new Text(account.StreamId), new Text($"{account.Pending:N0}"),
                new Text($"{account.Failures:N0}"), new Text(Text(account.FailingFor)),
                new Text(account.NextIn is { } next ? $"in {Text(next)}" : "parked"), new Text(account.Failure));
        }
        return table;
    }

    private static string Text(TimeSpan time) => time < TimeSpan.Zero ? "0 s"
        : time.TotalMinutes < 2 ? $"{time.TotalSeconds:0} s"
        : time.TotalHours < 2 ? $"{time.TotalMinutes:0} min"
        : $"{time.TotalHours:0} h";
}
