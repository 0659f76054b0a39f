namespace Billing.DeploymentTests.Bootstrap;

/// <summary>The backups of the database and the archive of its write-ahead log, with pgBackRest and a server of the test's own, which has
/// the settings that a machine gets. The rehearsal restores the platform from them.</summary>
public sealed class DatabaseBackups : IAsyncLifetime
{
    private readonly string _folder = Directory.CreateTempSubdirectory().FullName;

    /// <summary>As on the first primary: a running server, settings, and a place for backups without any.</summary>
    public async ValueTask InitializeAsync()
    {
        Assert.SkipUnless(File.Exists("/usr/bin/pgbackrest"), "pgBackRest is not installed");
        Assert.SkipUnless(File.Exists("/usr/lib/postgresql/15/bin/pg_ctl"), "PostgreSQL 15 is not installed as a package of Debian's");
        Assert.SkipUnless(Environment.IsPrivilegedProcess, "needs root, as the bootstrap does: the server and its backups belong to its account");
        foreach (var script in (string[])["backup.sh", "metrics.sh"])
        {
            var text = await File.ReadAllTextAsync(Path.Combine(Repository.Root, "deploy/bootstrap/postgres", script), Token);
            await File.WriteAllTextAsync(Path.Combine(_folder, script), text.Replace("/var/lib/postgresql/15/main", _folder + "/main", StringComparison.Ordinal)
                .Replace("/run/lock", _folder, StringComparison.Ordinal), Token);
        }
        (await RunAsync("""
            chown postgres:postgres .
            as_server "$programs/initdb" -D main --auth=trust --no-sync >/dev/null
            cat "$BILLING_BOOTSTRAP/postgres/postgresql.conf" - >>main/postgresql.conf <<<"
            listen_addresses = ''
            unix_socket_directories = '$PWD'
            log_destination = 'stderr'"
            BILLING_BACKUP=$PWD/backup backup_settings >pgbackrest.conf
            printf 'pg1-socket-path=%s\n' "$PWD" >>pgbackrest.conf
            serve main
            pgbackrest stanza-create
            """)).Succeeded();
    }

    public async ValueTask DisposeAsync()
    {
        await RunAsync("stop main; stop restored");
        Directory.Delete(_folder, recursive: true);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Every_moment_since_the_first_backup_can_be_restored()
    {
        var restored = (await RunAsync("""
            as_server bash backup.sh --first
            query 'create table paid as select 1 as number'
            # The time of a backup is known in whole seconds.
            moment=$(query 'select clock_timestamp() from pg_sleep(1)')
            query 'insert into paid values (2)'
            as_server bash backup.sh
            query 'insert into paid values (3)'
            pgbackrest check
            stop main
            pgbackrest --pg1-path="$PWD/restored" --type=time --target="$moment" --target-action=promote restore
            serve restored -c archive_mode=off
            until [[ $(query 'select pg_is_in_recovery()') == f ]]; do sleep 0.1; done
            query 'select number from paid'
            """)).Succeeded();

        Assert.Equal("1\n", restored.Output);
    }

    [Fact]
    public async Task A_first_backup_is_made_once_and_later_ones_contain_what_has_changed()
    {
        var kinds = (await RunAsync("""
            as_server bash backup.sh --first
            as_server bash backup.sh --first
            pgbackrest info | grep -c 'backup: '
            as_server bash backup.sh
            pgbackrest info | grep -c 'backup: '
            """)).Succeeded();

        Assert.Equal("1\n2\n", kinds.Output);
    }

    [Fact]
    public async Task Backups_that_are_asked_for_at_the_same_time_are_made_one_after_the_other()
    {
        var result = (await RunAsync("""
            as_server bash backup.sh --first
            as_server bash backup.sh & one=$!
            as_server bash backup.sh & other=$!
            wait $one; wait $other
            pgbackrest info | grep -c 'backup: '
            """)).Succeeded();

        Assert.Equal("3\n", result.Output);
    }

    [Fact]
    public async Task A_standby_makes_no_backup()
    {
        var result = (await RunAsync("""
            touch main/standby.signal
            as_server bash backup.sh
            pgbackrest info | grep -c 'backup: ' || true
            """)).Succeeded();

        Assert.Equal("0\n", result.Output);
    }

    [Fact]
    public async Task The_node_exporter_reads_how_many_segments_wait_and_when_the_newest_backup_was_made()
    {
        var lines = (await RunAsync("""
            as_server bash metrics.sh none.prom
            as_server bash backup.sh --first
            as_server touch main/pg_wal/archive_status/7.ready main/pg_wal/archive_status/8.ready
            as_server bash metrics.sh backup.prom
            rm -r backup
            as_server bash metrics.sh lost.prom
            grep -hv '^#' none.prom backup.prom lost.prom
            """)).Succeeded().Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);

        Assert.Equal("billing_backup_newest_timestamp_seconds 0", lines[1]);
        Assert.Equal("billing_archive_waiting_segments 2", lines[2]);
        Assert.Matches("^billing_backup_newest_timestamp_seconds 1[0-9]{9}$", lines[3]);
        Assert.Equal("billing_backup_newest_timestamp_seconds 0", lines[5]);
    }

    // As the server's account, with the bootstrap's own functions, settings and scripts in this test's folder.
    private Task<ToolResult> RunAsync(string script) => ExternalTool.RunAsync(
        ExternalTool.Need("bash"),
        ["-c", $$"""
            set -euo pipefail; shopt -s inherit_errexit
            BILLING_BOOTSTRAP='{{Repository.Root}}/deploy/bootstrap'
            . "$BILLING_BOOTSTRAP/common.sh"; . "$BILLING_BOOTSTRAP/tiers/postgres.sh"
            data=$PWD/main; programs=/usr/lib/postgresql/15/bin
            export PGBACKREST_CONFIG=$PWD/pgbackrest.conf PGBACKREST_LOCK_PATH=$PWD/lock
            as_server() { runuser -u postgres -- "$@"; }
            pgbackrest() { as_server /usr/bin/pgbackrest --stanza=billing "$@"; }
            query() { as_server psql -h "$PWD" -d postgres -qAtc "$1"; }
            serve() { as_server "$programs/pg_ctl" -D "$1" -w -l "$PWD/$1.log" -o "${*:2}" start >/dev/null || { cat "$1.log" >&2; return 1; }; }
            stop() { [[ ! -e $1/postmaster.pid ]] || as_server "$programs/pg_ctl" -D "$1" -w -m immediate stop >/dev/null; }
            {{script}}
            """],
        _folder);
}
