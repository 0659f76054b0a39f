using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Billing.Auditing.Exports;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.IntegrationTests.Services;
using Billing.LocalStack.Processes;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Billing.IntegrationTests.Operator;

/// <summary><c>./billing export</c>: whole days of two databases as files.</summary>
[Collection(OverEventStore.Name)]
public sealed class Exports(EventStoreFixture store, DatedStore dated) : IClassFixture<DatedStore>, IAsyncLifetime
{
    private const string First = DatedStore.FirstDay;
    private const string Last = DatedStore.LastDay;

    private readonly StackFolder _folder = StackFolder.Create();
    private IReadOnlyDictionary<string, string> _connections = new Dictionary<string, string>();

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private string[] Databases => Named(_connections);

    public async ValueTask InitializeAsync() => _connections = await dated.CopyAsync();

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Fact]
    public async Task Days_are_written_once_with_a_manifest_that_the_audit_finds_right()
    {
        var (csv, output) = await ExportAsync("a", "csv");
        Assert.True(csv == 0, output);
        Assert.Equal("2026-01-29: 61 events.\n2026-01-30: 11,940 events.\n2026-01-31: 10 events.", output);
        var (json, _) = await ExportAsync("a", "jsonl");
        Assert.Equal(0, json);
        var written = Directory.EnumerateFiles(PathOf("a")).ToDictionary(file => file, File.GetLastWriteTimeUtc);

        var manifest = ExportManifest.Read(PathOf("a"));
        Assert.Equal([61, 11_940, 10], manifest.Days.Select(day => day.Events));
        Assert.All(manifest.Days, day => Assert.Equal(2, day.Files.Count));
        foreach (var day in manifest.Days)
        {
            var lines = await File.ReadAllLinesAsync(Path.Combine(PathOf("a"), day.Files[0].Name), Stop);
            var rows = lines.Skip(1).Select(line => line.Split(',')).ToList();
            Assert.Equal(day.Events, rows.Count);
            Assert.Equal(
                rows.Select(row => (row[0], row[1] + "/" + row[2], long.Parse(row[3], CultureInfo.InvariantCulture)))
                    .Order(),
                rows.Select(row => (row[0], row[1] + "/" + row[2], long.Parse(row[3], CultureInfo.InvariantCulture))));
            Assert.Equal(
                day.Kinds.Select(kind => (kind.Key, (int)kind.Value)),
                rows.CountBy(row => row[4]).Select(kind => (kind.Key, kind.Value)).Order());
            Assert.All(day.Sums["USD"], sum => Assert.Equal(
                decimal.Parse(sum.Value, CultureInfo.InvariantCulture),
                rows.Where(row => row[4] == sum.Key).Sum(row => decimal.Parse(row[6], CultureInfo.InvariantCulture))));
            Assert.Equal(
                day.OnHold.Values.Sum(sum => decimal.Parse(sum, CultureInfo.InvariantCulture)),
                rows.Sum(row => decimal.Parse(row[15], CultureInfo.InvariantCulture)));
            var objects = await File.ReadAllLinesAsync(Path.Combine(PathOf("a"), day.Files[1].Name), Stop);
            Assert.Equal(rows.Select(row => row[5]), objects.Select(
                line => JsonDocument.Parse(line).RootElement.GetProperty("transaction_id").GetString()!));
        }
        Assert.Equal("8.00", Assert.Single(manifest.Days[^1].OnHold).Value);
        Assert.Equal((0, "Every day is there already."), await ExportAsync("a", "csv"));
        Assert.All(written, file => Assert.Equal(file.Value, File.GetLastWriteTimeUtc(file.Key)));
        var (audit, found) = await AuditAsync("a");
        Assert.True(audit == 0, found);
        Assert.Contains("misexported 0", found, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_bytes_do_not_depend_on_the_databases_that_the_accounts_are_in()
    {
        await ExportedAsync("a");
        var services = store.NewBackend(
            "", _connections.Select(database => ("Databases:" + database.Key, database.Value)));
        var last = Shard.Of(DatedStore.TheAccount);
        // Of both databases, some of which stay where they are.
        foreach (var shard in Enumerable.Range(0, 12).Append(last).Distinct())
        {
            await services.MoveShardAsync(shard, shard % 3 == 0 ? "one" : "two", _ => { }, Stop);
        }
        // One that leaves behind what it has moved.
        await Assert.ThrowsAsync<InvalidOperationException>(() => services.MoveShardAsync(
            last, last % 3 == 0 ? "two" : "one",
            doing => _ = doing == "deleting what is left" ? throw new InvalidOperationException() : true, Stop));

        Assert.Equal(0, (await ExportAsync("b", "csv")).ExitCode);

        Assert.Equal(Files("a"), Files("b"));
    }

    [Fact]
    public async Task An_export_that_was_killed_goes_on_with_the_day_that_it_was_writing_and_writes_the_same_bytes()
    {
        await ExportedAsync("whole");
        var buffer = new byte[100_000];
        var part = await InTheMiddleAsync("killed", async (process, file) =>
        {
            await file.ReadExactlyAsync(buffer, Stop);
            process.Kill();
            await process.WaitForExitAsync(Stop);
        });
        File.Delete(part);
        await File.WriteAllBytesAsync(part, buffer, Stop);
        Assert.Equal([new DateOnly(2026, 1, 29)], ExportManifest.Read(PathOf("killed")).Days.Select(day => day.Date));
        Assert.False(File.Exists(Path.ChangeExtension(part, null)));

        var (exitCode, output) = await ExportAsync("killed", "csv");

        Assert.Equal((0, "2026-01-30: 11,940 events.\n2026-01-31: 10 events."), (exitCode, output));
        Assert.Equal(Files("whole"), Files("killed"));
    }

    [Fact]
    public async Task A_day_of_which_a_shard_was_moved_while_it_was_read_does_not_count()
    {
        var services = store.NewBackend(
            "", _connections.Select(database => ("Databases:" + database.Key, database.Value)));
        await InTheMiddleAsync("moved", async (process, file) =>
        {
            await file.ReadExactlyAsync(new byte[1000], Stop);
            await services.MoveShardAsync(2, "two", _ => { }, Stop);
            // A command that went on would wait for a pipe for ever.
            File.Delete(Path.Combine(PathOf("moved"), "events-2026-01-30.csv.part"));
            await file.CopyToAsync(Stream.Null, Stop);
            await process.WaitForExitAsync(Stop);
            Assert.Equal(1, process.ExitCode);
            Assert.Contains(process.LastLogLines(20), line =>
                line.StartsWith("Shards were moved from one database to another meanwhile", StringComparison.Ordinal));
        });

        Assert.Equal([new DateOnly(2026, 1, 29)], ExportManifest.Read(PathOf("moved")).Days.Select(day => day.Date));
    }

    [Fact]
    public async Task A_file_without_its_entry_in_the_manifest_and_a_file_that_is_gone_are_written_again()
    {
        await ExportedAsync("a");
        var whole = Files("a");
        // As if it had been killed before it wrote the manifest, and while it did.
        var manifest = ExportManifest.Read(PathOf("a"));
        await File.WriteAllBytesAsync(
            Path.Combine(PathOf("a"), ExportManifest.FileName),
            new ExportManifest([.. manifest.Days.SkipLast(1)]).ToJson(), Stop);
        await File.WriteAllTextAsync(Path.Combine(PathOf("a"), ExportManifest.FileName + ".part"), "{", Stop);
        await File.WriteAllTextAsync(Path.Combine(PathOf("a"), "events-2026-01-31.csv"), "half", Stop);
        File.Delete(Path.Combine(PathOf("a"), "events-2026-01-29.csv"));

        var (exitCode, output) = await ExportAsync("a", "csv");

        Assert.Equal((0, "2026-01-29: 61 events.\n2026-01-31: 10 events."), (exitCode, output));
        Assert.Equal(whole, Files("a"));
    }

    [Fact]
    public async Task A_file_that_was_altered_is_named_and_left_as_it_is()
    {
        await ExportedAsync("a");
        var altered = Path.Combine(PathOf("a"), "events-2026-01-30.csv");
        await File.WriteAllTextAsync(altered, (await File.ReadAllTextAsync(altered, Stop))
            .Replace(",payment_accepted,", ",payment_declined,", StringComparison.Ordinal), Stop);
        var before = Files("a");

        var (exitCode, output) = await ExportAsync("a", "csv");

        Assert.Equal(1, exitCode);
        Assert.StartsWith($"--out: '{altered}' is not what was exported", output, StringComparison.Ordinal);
        Assert.Equal(before, Files("a"));
    }

    [Theory]
    [InlineData(
        "delete from billing.mt_events where stream_id = '{a}' and version = 7; "
            + "update billing.mt_streams set version = 6 where id = '{a}'",
        "2026-01-31: 4 payment_accepted in the export, 3 in the store")]
    [InlineData(
        "update billing.mt_events set data = data || '{\"Amount\": 8.25, \"Balance\": "
            + "22.25}' where stream_id = '{a}' and version = 7",
        "2026-01-31: 20.00 USD payment_accepted in the export, 21.25 in the store")]
    [InlineData("update billing.mt_events set data = data || '{\"OnHold\": 4}' where stream_id = '{a}' and version = 9",
        "2026-01-31: 8.00 USD on hold in the export, 7.00 in the store")]
    [InlineData(
        "update billing.mt_events set timestamp = '2026-01-30 00:00:00Z' where stream_id = '{a}' and version = 7",
        "2026-01-31: 4 payment_accepted in the export, 3 in the store")]
    public async Task An_event_that_is_altered_behind_the_platforms_back_is_found(string fault, string difference)
    {
        await ExportedAsync("a");
        await ExecuteAsync(
            Shard.Of(DatedStore.TheAccount) % 2 == 0 ? "one" : "two",
            fault.Replace("{a}", DatedStore.TheAccount, StringComparison.Ordinal));

        var (audit, found) = await AuditAsync("a");
        var (again, refusal) = await ExportAsync("a", "jsonl");

        Assert.Equal(1, audit);
        Assert.Contains("misexported: " + difference, found, StringComparison.Ordinal);
        Assert.Equal(1, again);
        Assert.Contains("The event store has other events of events-2026-01-3", refusal, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_day_waits_for_a_transaction_that_may_add_to_it()
    {
        // A role that may not see since when others have transactions open.
        await ExecuteAsync("one", "create role export_reader login password 'of-the-test'", mayExist: true);
        foreach (var name in _connections.Keys)
        {
            await ExecuteAsync(
                name,
                "grant usage on schema billing to export_reader; grant select on all tables in schema billing to "
                    + "export_reader");
        }
        string As(string connection) => new NpgsqlConnectionStringBuilder(
            connection)
        { Username = "export_reader", Password = "of-the-test" }.ConnectionString;
        string[] arguments =
        [
            "export", "--from", First, "--to", Last, "--out", PathOf("a"),
            .. Named(_connections.ToDictionary(database => database.Key, database => As(database.Value))),
        ];
        await using var source = NpgsqlDataSource.Create(_connections["one"]);
        await using var session = await source.OpenConnectionAsync(Stop);
        var late = await session.BeginTransactionAsync(Stop);
        await using (var insert = new NpgsqlCommand(
            $"""
            insert into billing.mt_events (seq_id, id, stream_id, version, data, type, timestamp)
            select seq_id + 1000000, gen_random_uuid(), stream_id, 1000, data, type, '{Last} 23:59:59.9Z'
                from billing.mt_events
            where billing.shard_of(stream_id) % 2 = 0 and stream_id <> 'mt_tombstone' order by seq_id limit 1
            """, session))
        {
            Assert.Equal(1, await insert.ExecuteNonQueryAsync(Stop));
        }

        await using var process = CommandRun.Start(_folder, arguments, program: CommandRun.Operator);
        // It asks again and again.
        var asked = new HashSet<object?>();
        await using var question = source.CreateCommand(
            "select query_start from pg_stat_activity where usename = 'export_reader' and query like '%virtualxid%'");
        while (asked.Count < 4)
        {
            asked.Add(await question.ExecuteScalarAsync(Stop));
            Assert.False(process.HasExited, string.Join('\n', process.LastLogLines(20)));
        }
        await late.CommitAsync(Stop);
        await process.WaitForExitAsync(Stop);

        Assert.True(process.ExitCode == 0, string.Join('\n', process.LastLogLines(20)));
        Assert.Equal(11, ExportManifest.Read(PathOf("a")).Days[^1].Events);
    }

    [Fact]
    public async Task What_cannot_be_exported_is_refused_with_the_option_that_is_at_fault()
    {
        var today = TimeProvider.System.GetUtcNow().ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);
        await RefusedAsync(
            $"--to: {today} is not over", ["--from", First, "--to", today, "--out", PathOf("a"), .. Databases]);
        await RefusedAsync(
            "--postgres: of these databases not exactly one holds each of the shards 1, 3, 5",
            ["--from", First, "--to", Last, "--out", PathOf("b"), "--postgres", _connections["one"]]);
        await RefusedAsync(
            "--postgres: Failed to connect to 127.0.0.1:1",
            [
                "--from", First, "--to", Last, "--out", PathOf("b"),
                "--postgres", "Host=127.0.0.1;Port=1;Username=nobody",
            ]);
        await RefusedAsync(
            "--postgres: 'nonsense' is not a connection string",
            ["--from", First, "--to", Last, "--out", PathOf("b"), "--postgres", "nonsense"]);
        await RefusedAsync(
            "--postgres: the database two has no event store",
            [
                "--from", First, "--to", Last, "--out", PathOf("b"), "--postgres", "one:" + _connections["one"],
                "--postgres", "two:" + await store.NewDatabaseAsync(),
            ]);
        await RefusedAsync("--export: there is no manifest.json", [], ["audit", "--export", PathOf("c"), .. Databases]);
        var file = Path.Combine(_folder.FullName, "file");
        await File.WriteAllTextAsync(file, "", Stop);
        await RefusedAsync(
            $"--out: '{file}' cannot be written", ["--from", First, "--to", Last, "--out", file, .. Databases]);
        Assert.False(File.Exists(Path.Combine(PathOf("a"), ExportManifest.FileName)));
        Assert.DoesNotContain(Directory.EnumerateFiles(PathOf("b")), path =>
            !path.EndsWith(".part", StringComparison.Ordinal) && !path.EndsWith(".lock", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_day_for_which_the_disk_has_no_room_does_not_count()
    {
        Directory.CreateDirectory(PathOf("full"));
        File.CreateSymbolicLink(Path.Combine(PathOf("full"), "events-2026-01-30.csv.part"), "/dev/full");

        var (exitCode, output) = await ExportAsync("full", "csv");

        Assert.Equal(1, exitCode);
        Assert.Contains(
            $"--out: '{Path.Combine(PathOf("full"), "events-2026-01-30.csv")}' cannot be written: "
                + "No space left on device", output, StringComparison.Ordinal);
        Assert.Equal([new DateOnly(2026, 1, 29)], ExportManifest.Read(PathOf("full")).Days.Select(day => day.Date));
        Assert.Equal(["events-2026-01-29.csv", "manifest.json"], Files("full").Keys);
        Assert.Equal((0, "2026-01-30: 11,940 events.\n2026-01-31: 10 events."), await ExportAsync("full", "csv"));
    }

    /// <summary>Starts an export, and does something while it writes the second day: to a pipe, so that it waits
    /// until that is read.</summary>
    private async Task<string> InTheMiddleAsync(string name, Func<ChildProcess, Stream, Task> action)
    {
        var part = Path.Combine(PathOf(name), "events-2026-01-30.csv.part");
        Directory.CreateDirectory(PathOf(name));
        await new Tool("mkfifo").RunAsync([part], Stop);
        await using var process = CommandRun.Start(_folder, Arguments(name, "csv"), program: CommandRun.Operator);
        // A program that, other than .NET, takes no lock of what it reads.
        using var reader = Process.Start(new ProcessStartInfo("cat", [part]) { RedirectStandardOutput = true })!;
        try
        {
            await action(process, reader.StandardOutput.BaseStream);
        }
        finally
        {
            reader.Kill();
        }
        return part;
    }

    private async Task RefusedAsync(string message, string[] options, string[]? command = null)
    {
        var (exitCode, output) = await RunAsync(command ?? ["export", .. options]);
        Assert.Equal(1, exitCode);
        Assert.StartsWith(message, output, StringComparison.Ordinal);
    }

    private string PathOf(string name) => Path.Combine(_folder.FullName, "exports", name);

    private string[] Arguments(string name, string format) =>
    [
        "export", "--from", First, "--to", Last, "--format", format, "--out", PathOf(name), .. Databases,
    ];

    private Task<(int ExitCode, string Output)> ExportAsync(string name, string format) =>
        RunAsync(Arguments(name, format));

    private Task<(int ExitCode, string Output)> AuditAsync(string name) =>
        RunAsync(["audit", "--opening-limit", "USD=10000", "--export", PathOf(name), .. Databases]);

    /// <summary>A folder as an export leaves it.</summary>
    private async Task ExportedAsync(string name)
    {
        var exported = await dated.ExportAsync();
        Directory.CreateDirectory(PathOf(name));
        foreach (var file in Directory.EnumerateFiles(exported))
        {
            File.Copy(file, Path.Combine(PathOf(name), Path.GetFileName(file)));
        }
    }

    private Task<(int ExitCode, string Output)> RunAsync(string[] arguments) =>
        CommandRun.ToEndAsync(_folder, arguments, program: CommandRun.Operator);

    /// <summary>The visible files of an export, each with its content.</summary>
    private SortedDictionary<string, string> Files(string name) => new(
        Directory.EnumerateFiles(PathOf(name)).Where(path => Path.GetFileName(path)[0] != '.')
            .ToDictionary(path => Path.GetFileName(path), path => File.ReadAllText(path, Encoding.UTF8)),
        StringComparer.Ordinal);

    private static string[] Named(IReadOnlyDictionary<string, string> databases) =>
    [
        .. databases.SelectMany(database => (string[])["--postgres", $"{database.Key}:{database.Value}"]),
    ];

    private async Task ExecuteAsync(string name, string sql, bool mayExist = false)
    {
        await using var database = NpgsqlDataSource.Create(_connections[name]);
        await using var command = database.CreateCommand(sql);
        try
        {
            await command.ExecuteNonQueryAsync(Stop);
        }
        catch (PostgresException e) when (mayExist && e.SqlState == PostgresErrorCodes.DuplicateObject)
        {
            // The server is shared by the tests.
        }
    }
}
