using System.Globalization;
using System.Text.RegularExpressions;

namespace Billing.DeploymentTests.Bootstrap;

/// <summary>The archive of the database's write-ahead log and the base backups, without a server: the scripts run on small files in
/// a folder, with stand-ins for pg_basebackup, the clock and the disk of 100 MB. The rehearsal runs them on a database.</summary>
public sealed partial class DatabaseBackups : IDisposable
{
    private const string Scripts = "deploy/bootstrap/postgres";
    private const string Noon = "2026-01-10 12:00Z";

    // A base backup that needs the segment 07, or $SEGMENT, and later ones.
    private const string BaseBackup = """
        mkdir -p "$2"
        echo "START WAL LOCATION: 0/7000028 (file ${SEGMENT:-000000010000000000000007})" >"$2/backup_label"
        tar -czf "$2/base.tar.gz" -C "$2" backup_label
        rm "$2/backup_label"
        """;

    private readonly string _folder = Directory.CreateTempSubdirectory().FullName;

    public DatabaseBackups()
    {
        _ = ExternalTool.Need("zstd");
        foreach (var folder in (string[])["base", "wal", "bin"])
        {
            Directory.CreateDirectory(At(folder));
        }
        Stub("pg_basebackup", BaseBackup);
        Stub("df", "printf '1B-blocks\\n100000000\\n'");
        SetClock(Noon);
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task A_segment_that_was_closed_early_takes_little_room_and_is_restored_unchanged()
    {
        (await RunAsync("head -c 100000 /dev/urandom >segment; truncate -s 16M segment")).Succeeded();

        (await ArchiveAsync("segment")).Succeeded();

        Assert.InRange(new FileInfo(At($"wal/{Segment(7)}.zst")).Length, 100_000, 110_000);
        await AssertRestoredAsync("segment");
    }

    [Fact]
    public async Task A_segment_that_an_earlier_release_archived_uncompressed_is_restored()
    {
        Write($"wal/{Segment(7)}", 1000);

        await AssertRestoredAsync($"wal/{Segment(7)}");
    }

    [Fact]
    public async Task A_segment_that_is_not_archived_ends_a_recovery() => Assert.NotEqual(0, (await RunAsync(RestoreCommand())).ExitCode);

    [Fact]
    public async Task A_segment_is_archived_again_only_if_it_is_the_same()
    {
        (await RunAsync("echo one >segment; echo another >other")).Succeeded();
        (await ArchiveAsync("segment")).Succeeded();

        (await ArchiveAsync("segment")).Succeeded();
        var other = await ArchiveAsync("other");

        Assert.NotEqual(0, other.ExitCode);
        Assert.Contains("exists and has other content than other", other.Errors, StringComparison.Ordinal);
        await AssertRestoredAsync("segment");
    }

    [Fact]
    public async Task A_segment_that_could_not_be_written_completely_is_not_taken_for_archived()
    {
        Write("segment", 1000);
        // As when the disk is full.
        Stub("zstd", "echo begin >\"${@: -1}\"; exit 1");

        var failed = await ArchiveAsync("segment");
        File.Delete(At("bin/zstd"));

        Assert.NotEqual(0, failed.ExitCode);
        Assert.False(File.Exists(At($"wal/{Segment(7)}.zst")));
        (await ArchiveAsync("segment")).Succeeded();
        await AssertRestoredAsync("segment");
    }

    [Theory]
    [InlineData(Noon, null, true)]
    [InlineData(Noon, "20260110T025959Z", true)]
    [InlineData(Noon, "20260110T030000Z", false)]
    [InlineData("2026-01-10 02:59Z", "20260109T030100Z", false)]
    [InlineData("2026-01-10 03:00Z", "20260109T030100Z", true)]
    public async Task A_backup_is_due_when_the_last_one_is_from_before_three_o_clock(string now, string? last, bool isDue)
    {
        SetClock(now);
        if (last is not null)
        {
            await BackUpEarlierAsync(last, Segment(7));
        }
        var before = Backups().Count;

        (await RunScriptAsync("backup.sh", "--if-due")).Succeeded();

        Assert.Equal(before + (isDue ? 1 : 0), Backups().Count);
    }

    [Theory]
    [InlineData(8_000_000, 1)]
    [InlineData(9_000_000, 2)]
    public async Task A_backup_is_due_when_more_log_than_a_twelfth_of_the_disk_was_archived_since_the_last_one(int bytes, int backups)
    {
        await BackUpEarlierAsync("20260110T110000Z", Segment(7));
        Directory.SetLastWriteTimeUtc(At("base/20260110T110000Z"), DateTime.UnixEpoch);
        Write($"wal/{Segment(8)}.zst", bytes);

        (await RunScriptAsync("backup.sh", "--if-due")).Succeeded();

        Assert.Equal(backups, Backups().Count);
    }

    [Fact]
    public async Task Seven_backups_are_kept_with_the_log_since_the_first_of_them()
    {
        await BackUpEveryDayAsync(days: 8, bytes: 10);
        // As an earlier release archived it.
        Write($"wal/{Segment(0)}", 10);

        (await RunScriptAsync("backup.sh", "")).Succeeded();

        Assert.Equal(["20260103T030000Z", "20260104T030000Z", "20260105T030000Z", "20260106T030000Z", "20260107T030000Z", "20260108T030000Z", "20260110T120000Z"], Backups());
        Assert.Equal([.. Enumerable.Range(3, 6).Select(day => Segment(day) + ".zst")], Archived());
    }

    [Fact]
    public async Task Fewer_backups_are_kept_where_they_would_take_more_than_a_third_of_the_disk()
    {
        await BackUpEveryDayAsync(days: 3, bytes: 14_000_000);

        (await RunScriptAsync("backup.sh", "")).Succeeded();

        Assert.Equal(["20260102T030000Z", "20260103T030000Z", "20260110T120000Z"], Backups());
        Assert.Equal([Segment(2) + ".zst", Segment(3) + ".zst"], Archived());
    }

    [Fact]
    public async Task The_last_backup_and_its_log_are_kept_however_large_they_are()
    {
        await BackUpEveryDayAsync(days: 1, bytes: 10);
        Write($"wal/{Segment(7)}.zst", 90_000_000);

        (await RunScriptAsync("backup.sh", "")).Succeeded();

        Assert.Equal(["20260110T120000Z"], Backups());
        Assert.Equal([Segment(7) + ".zst"], Archived());
    }

    [Fact]
    public async Task What_a_failed_backup_leaves_is_no_backup_and_is_deleted_by_the_next_one()
    {
        await BackUpEarlierAsync("20260108T030000Z", Segment(7));
        Stub("pg_basebackup", BaseBackup + "\nexit 1");

        Assert.NotEqual(0, (await RunScriptAsync("backup.sh", "--if-due")).ExitCode);
        Assert.Equal(["20260108T030000Z", "20260110T120000Z.new"], Backups());
        Stub("pg_basebackup", BaseBackup);
        SetClock("2026-01-10 13:00Z");
        (await RunScriptAsync("backup.sh", "--if-due")).Succeeded();

        Assert.Equal(["20260108T030000Z", "20260110T130000Z"], Backups());
    }

    [Fact]
    public async Task The_node_exporter_reads_how_many_segments_wait_and_when_the_newest_backup_was_made()
    {
        await BackUpEarlierAsync("20260108T030000Z", Segment(7));
        Directory.SetLastWriteTimeUtc(At("base/20260108T030000Z"), DateTime.UnixEpoch.AddSeconds(1_700_000_000));
        Directory.CreateDirectory(At("pg_wal/archive_status"));
        foreach (var file in (string[])["7.ready", "8.ready", "6.done"])
        {
            Write("pg_wal/archive_status/" + file, 0);
        }

        (await RunScriptAsync("metrics.sh", At("backup.prom"))).Succeeded();

        var lines = await File.ReadAllLinesAsync(At("backup.prom"), TestContext.Current.CancellationToken);
        Assert.Equal(
            ["billing_archive_waiting_segments 2", "billing_backup_newest_timestamp_seconds 1700000000.0000000000"], lines.Where(line => !line.StartsWith('#')));
    }

    private static string Segment(int number) => string.Create(CultureInfo.InvariantCulture, $"0000000100000000000000{number:00}");

    private string At(string path) => Path.Combine(_folder, path);

    private void Write(string path, int length) => File.WriteAllBytes(At(path), new byte[length]);

    private void Stub(string program, string script) => File.WriteAllText(At("bin/" + program), $"#!/usr/bin/env bash\nset -e\n{script}\n");

    // date -u [-d MOMENT] +FORMAT
    private void SetClock(string now) => Stub("date", $"[[ $2 != -d ]] || then=$3; exec /bin/date -u -d \"{now} ${{then:-}}\" \"${{@: -1}}\"");

    private List<string> Backups() => [.. Directory.EnumerateDirectories(At("base")).Select(path => Path.GetFileName(path)).Order(StringComparer.Ordinal)];

    private List<string> Archived() => [.. Directory.EnumerateFiles(At("wal")).Select(path => Path.GetFileName(path)).Order(StringComparer.Ordinal)];

    // A backup at 03:00 of each of the first days of January, and a segment archived after each.
    private async Task BackUpEveryDayAsync(int days, int bytes)
    {
        foreach (var day in Enumerable.Range(1, days))
        {
            await BackUpEarlierAsync(string.Create(CultureInfo.InvariantCulture, $"202601{day:00}T030000Z"), Segment(day));
            Write($"wal/{Segment(day)}.zst", bytes);
        }
    }

    private async Task BackUpEarlierAsync(string name, string segment) =>
        (await RunAsync($"SEGMENT={segment} pg_basebackup --pgdata base/{name}")).Succeeded();

    private Task<ToolResult> ArchiveAsync(string file) => RunAsync($"'{Repository.Root}/{Scripts}/archive.sh' {file} wal/{Segment(7)}");

    private async Task AssertRestoredAsync(string file) => (await RunAsync($"{RestoreCommand()}; cmp {file} restored")).Succeeded();

    // The restored cluster's command, for segment 07.
    private string RestoreCommand() => RestoreSetting().Match(File.ReadAllText(Path.Combine(Repository.Root, Scripts, "restore.sh"))).Groups[1].Value
        .Replace("$folder", _folder, StringComparison.Ordinal).Replace("%f", Segment(7), StringComparison.Ordinal).Replace("%p", "restored", StringComparison.Ordinal);

    // Runs a script with this test's folders.
    private async Task<ToolResult> RunScriptAsync(string script, string argument)
    {
        var programs = Environment.GetEnvironmentVariable("BILLING_POSTGRES_BIN") is { Length: > 0 } set ? set : "/usr/lib/postgresql/15/bin";
        Assert.SkipWhen(!File.Exists(Path.Combine(programs, "pg_archivecleanup")), $"{programs} has no pg_archivecleanup");
        var text = await File.ReadAllTextAsync(Path.Combine(Repository.Root, Scripts, script), TestContext.Current.CancellationToken);
        foreach (var (folder, own) in new[] { ("/var/backups/billing", _folder), ("/var/lib/postgresql/15/main", _folder), ("/usr/lib/postgresql/15/bin", programs) })
        {
            text = text.Replace(folder, own, StringComparison.Ordinal);
        }
        await File.WriteAllTextAsync(At(script), text, TestContext.Current.CancellationToken);
        return await RunAsync($"bash {script} {argument}");
    }

    private Task<ToolResult> RunAsync(string script) => ExternalTool.RunAsync(
        ExternalTool.Need("bash"), ["-c", $"set -euo pipefail; chmod +x bin/*; PATH=\"$PWD/bin:$PATH\"\n{script}"], _folder);

    [GeneratedRegex("^restore_command = '(.*)'$", RegexOptions.Multiline)]
    private static partial Regex RestoreSetting();
}
