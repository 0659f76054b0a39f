using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using Billing.Backends.EventStore.Shards;
using Billing.Operator.Arguments;
using Billing.Operator.Store;
using Npgsql;
using Spectre.Console;

namespace Billing.Operator.Exports;

/// <summary><c>export</c>: writes the events of whole days to files.</summary>
internal static class ExportCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var postgres = Flags.EventStore();
        var from = Day("--from", "The first day, in UTC, e.g. 2026-11-01");
        var to = Day("--to", "The last day, in UTC");
        var format = Flags.Choice(
            "--format", "Format of the files", [.. ExportFormat.All.Select(format => format.Name)]);
        var folder = new Option<string>(
            "--out")
        { Description = "Folder for the files and their manifest", HelpName = "FOLDER", Required = true };
        var command = new Command(
            "export",
            "Writes the events of whole days to files, a file for each day; "
                + "goes on where an earlier export into the folder ended.")
        {
            from, to, format, folder, postgres,
        };
        command.Validators.Add(result =>
        {
            if (Read(result.GetResult(from)) is { } first && Read(result.GetResult(to)) is { } last && first > last)
            {
                result.AddError(string.Create(
                    CultureInfo.InvariantCulture, $"--from {first:yyyy-MM-dd} is after --to {last:yyyy-MM-dd}."));
            }
        });
        return command.Does(async (parsed, cancellationToken) =>
        {
            var export = new EventExport(
                parsed.GetRequiredValue(folder),
                ExportFormat.All.First(known => known.Name == parsed.GetValue(format)));
            using var turn = await export.EnterAsync(cancellationToken);
            var days = export.Missing(parsed.GetValue(from), parsed.GetValue(to));
            if (days.Count == 0)
            {
                console.WriteLine("Every day is there already.");
                return 0;
            }
            var databases = await StackInBackground.DatabasesAsync(parsed.GetValue(postgres));
            return await Guarded.AskingPostgresAsync(
                () => ExportAsync(console, export, databases, days, cancellationToken));
        });
    }

    private static async Task<int> ExportAsync(
        IAnsiConsole console, EventExport export, IReadOnlyDictionary<string, string> databases,
        IReadOnlyList<DateOnly> days, CancellationToken cancellationToken)
    {
        await using var services = StoreServices.Of(
            databases.ToDictionary(database => database.Key, database => ForBackends(database.Value)));
        var connections = databases.OrderBy(database => database.Key, StringComparer.Ordinal)
            .Select(database => database.Value);
        await using var store = await StoredDays.OpenAsync(
            services.GetRequiredService<EventStoreDatabases>().All, connections, cancellationToken);
        await store.WaitUntilOverAsync(days[^1], cancellationToken);
        foreach (var day in days)
        {
            var written = await export.WriteAsync(day, store.ReadAsync(day, cancellationToken), cancellationToken);
            console.WriteLine(
                string.Create(CultureInfo.InvariantCulture, $"{day:yyyy-MM-dd}: {written.Events:N0} events."));
        }
        return 0;
    }

    // Those of backends cannot say that a standby will do, which matters for the reading alone.
    private static string ForBackends(string connectionString) =>
        new NpgsqlConnectionStringBuilder(connectionString) { TargetSessionAttributes = null }.ConnectionString;

    private static Option<DateOnly> Day(string name, string description) => new(name)
    {
        Description = description,
        HelpName = "DAY",
        Required = true,
        CustomParser = result =>
        {
            if (Read(result.Tokens[0].Value) is { } day)
            {
                return day;
            }
            result.AddError($"{name} must be a day such as 2026-11-01; it is '{result.Tokens[0].Value}'.");
            return default;
        },
    };

    private static DateOnly? Read(OptionResult? option) => option is { Tokens: [var token] } ? Read(token.Value) : null;

    // The last day of the calendar has no end.
    private static DateOnly? Read(string text) =>
        DateOnly.TryParseExact(text, "yyyy-MM-dd", CultureInfo.InvariantCulture, DateTimeStyles.None, out var day)
        && day < DateOnly.MaxValue ? day : null;
}
