namespace Billing.DeploymentTests.Bootstrap;

/// <summary>The backups of the database and the archive of its write-ahead log, with pgBackRest and a server of the
/// test's own, which has the settings that a machine gets. The rehearsal restores the platform from them.</summary>
public sealed class DatabaseBackups : IAsyncLifetime
{
    private const string Certificate = "billing_certificate_expiry_timestamp_seconds ";

    private readonly string _folder = Directory.CreateTempSubdirectory().FullName;

    /// <summary>As on the first primary: a running server, settings, and a place for backups without any.</summary>
    public async ValueTask InitializeAsync()
    {
        Assert.SkipUnless(File.Exists("/usr/bin/pgbackrest"), "pgBackRest is not installed");
        Assert.SkipUnless(
            File.Exists("/usr/lib/postgresql/15/bin/pg_ctl"),
            "PostgreSQL 15 is not installed as a package of Debian's");
        Assert.SkipUnless(
            Environment.IsPrivilegedProcess,
            "needs root, as the bootstrap does: the server and its backups belong to its account");
        foreach (var script in (string[])["archived.sh", "backup.sh", "metrics.sh"])
        {
            var text = await File.ReadAllTextAsync(
                Path.Combine(Repository.Root, "deploy/bootstrap/postgres", script), Token);
            await File.WriteAllTextAsync(
                Path.Combine(_folder, script),
                text.Replace("/var/lib/postgresql/15/main", _folder + "/main", StringComparison.Ordinal)
                    .Replace("/run/lock", _folder, StringComparison.Ordinal)
                    .Replace("/etc/billing/tls", _folder, StringComparison.Ordinal), Token);
        }
        (await RunAsync("""
            chown postgres:postgres .
            install -D archived.sh bin/billing-archived
            as_server "$programs/initdb" -D main --auth=trust --no-sync --data-checksums >/dev/null
            cat "$BILLING_BOOTSTRAP/postgres/postgresql.conf" - >>main/postgresql.conf <<<"
            listen_addresses = ''
            wal_keep_size = 128MB # Patroni's
            unix_socket_directories = '$PWD'
            log_destination = 'stderr'"
            mkdir secrets secrets/postgres; printf 'password-of-backups' >secrets/postgres/backup
            put_backup_settings
            serve main
            pgbackrest stanza-create
            """)).Succeeded();
    }

    public async ValueTask DisposeAsync()
    {
        await RunAsync("stop main; stop standby; stop restored");
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
    public async Task Whoever_has_the_place_of_the_backups_reads_nothing_in_them_or_in_the_log_without_the_password()
    {
        var read = (await RunAsync("""
            query "create table paid as select 'account-of-a-customer' as account"
            query "select pg_logical_emit_message(false, 'billing', 'account-of-a-customer')" >/dev/null
            as_server bash backup.sh --first
            pgbackrest check
            # Without this the search would prove nothing: the table is found where it is not encrypted.
            query checkpoint; grep -rlq account-of-a-customer main/base
            find backup -type f -size +0 >files; [[ -s files ]]
            while read -r file; do
              [[ $(head -c 8 "$file") == Salted__ ]] || echo "$file is not encrypted"
            done <files
            grep -rl account-of-a-customer backup || true
            pgbackrest --output=json info | grep -o '"cipher":"[^"]*"' | sort -u
            """)).Succeeded();

        Assert.Equal("\"cipher\":\"aes-256-cbc\"\n", read.Output);
    }

    [Fact]
    public async Task A_new_password_needs_an_empty_place_and_the_former_one_still_restores_from_the_place_of_before()
    {
        var tried = (await RunAsync("""
            query 'create table paid as select 1 as number'
            as_server bash backup.sh --first
            printf 'another-password password-of-backups' >secrets/postgres/backup
            put_backup_settings
            pgbackrest stanza-create >/dev/null 2>&1 || echo 'stanza-create refuses'
            pgbackrest check >/dev/null 2>&1 || echo 'check refuses'
            pgbackrest --pg1-path="$PWD/restored" restore >/dev/null 2>&1 || echo 'restore refuses'
            BILLING_BACKUP=$PWD/new put_backup_settings
            pgbackrest stanza-create
            as_server bash backup.sh --first
            pgbackrest info | grep -c 'backup: '
            stop main
            printf 'password-of-backups' >secrets/postgres/backup
            put_backup_settings
            pgbackrest --pg1-path="$PWD/restored" restore
            serve restored -c archive_mode=off
            until [[ $(query 'select pg_is_in_recovery()') == f ]]; do sleep 0.1; done
            query 'select number from paid'
            """)).Succeeded();

        Assert.Equal("stanza-create refuses\ncheck refuses\nrestore refuses\n1\n1\n", tried.Output);
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

    [Theory]
    [InlineData(6, "3\n")]
    // On Sundays each has everything, and two of those are kept.
    [InlineData(7, "2\n")]
    public async Task Backups_that_are_asked_for_at_the_same_time_are_made_one_after_the_other(int weekday, string kept)
    {
        var result = (await RunAsync($$"""
            date() { echo {{weekday}}; }
            export -f date
            as_server bash backup.sh --first
            as_server bash backup.sh & one=$!
            as_server bash backup.sh & other=$!
            wait $one; wait $other
            pgbackrest info | grep -c 'backup: '
            """)).Succeeded();

        Assert.Equal(kept, result.Output);
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
    public async Task The_node_exporter_reads_the_servers_state_and_certificate_waiting_segments_and_newest_backup()
    {
        var lines = (await RunAsync("""
            as_server bash metrics.sh none.prom
            openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=postgres -days 10 \
              -keyout /dev/null -out postgres.pem 2>/dev/null
            as_server bash backup.sh --first
            as_server touch main/pg_wal/archive_status/7.ready main/pg_wal/archive_status/8.ready
            as_server bash metrics.sh backup.prom
            rm -r backup
            stop main
            as_server bash metrics.sh lost.prom
            as_server touch main/standby.signal
            as_server bash metrics.sh standby.prom
            grep -hv '^#' none.prom backup.prom lost.prom standby.prom
            date -d '10 days' +%s
            """)).Succeeded().Output.Split('\n', StringSplitOptions.RemoveEmptyEntries).ToList();
        var (certificates, tenDays) =
            (lines.FindAll(line => line.StartsWith(Certificate, StringComparison.Ordinal)), long.Parse(lines[^1]));
        lines.RemoveAll(line => line.StartsWith(Certificate, StringComparison.Ordinal) || line == lines[^1]);

        Assert.Equal("billing_database_running 1", lines[0]);
        Assert.Equal("billing_backup_newest_timestamp_seconds 0", lines[2]);
        Assert.Equal(["billing_database_running 1", "billing_archive_waiting_segments 2"], lines.Slice(3, 2));
        Assert.Matches("^billing_backup_newest_timestamp_seconds 1[0-9]{9}$", lines[5]);
        Assert.Equal("billing_database_running 0", lines[6]);
        Assert.Equal("billing_backup_newest_timestamp_seconds 0", lines[8]);
        Assert.Equal(["billing_database_running 0"], lines.Slice(9, lines.Count - 9));
        Assert.Equal(4, certificates.Count);
        Assert.Equal(Certificate + "0", certificates[0]);
        Assert.All(
            certificates.Skip(1),
            line => Assert.InRange(long.Parse(line[Certificate.Length..]), tenDays - 3600, tenDays));
    }

    [Fact]
    public async Task A_former_primary_reads_from_the_archive_what_the_new_one_has_no_more()
    {
        var joined = (await RunAsync("""
            as_server "$programs/pg_basebackup" -D standby -R -c fast
            PGBACKREST_PG1_PATH=$PWD/standby serve standby -p 5433
            write() {
              query "do 'begin for i in 1..$1 loop
                perform pg_logical_emit_message(false, ''billing'', ''payment''); perform pg_switch_wal();
              end loop; end'" "$2"
            }
            query 'create table paid as select number from generate_series(1, 5000) as number'
            needed=$(query 'select pg_walfile_name(pg_current_wal_insert_lsn())')
            # Its checkpoint takes seconds. Its record is in another segment than where recovery from it begins.
            query "select pg_backup_start('slow')" >/dev/null & backup=$!
            until grep -q 'checkpoint starting: force wait' main.log; do sleep 0.1; done
            write 2 5432
            wait "$backup"
            [[ $(query 'select pg_walfile_name(redo_lsn) < pg_walfile_name(checkpoint_lsn)
              from pg_control_checkpoint()') == t ]]
            as_server "$programs/pg_ctl" -D standby -w promote >/dev/null
            query "select pg_logical_emit_message(false, 'billing', 'only here')" >/dev/null
            as_server "$programs/pg_ctl" -D main -w -m fast stop >/dev/null
            write 12 5433
            while [[ -e standby/pg_wal/$needed ]]; do query checkpoint 5433; sleep 0.1; done
            as_server "$programs/pg_rewind" -D main --source-server="host=$PWD port=5433 dbname=postgres"
            as_server touch main/standby.signal
            serve main "-c primary_conninfo='host=$PWD port=5433'"
            until query 'select count(*) from paid' 2>/dev/null; do sleep 0.1; done
            """)).Succeeded();

        Assert.Equal("5000\n", joined.Output);
    }

    [Fact]
    public async Task A_segment_archived_by_a_former_primary_is_accepted_only_with_the_same_records()
    {
        var pushed = (await RunAsync("""
            query "select pg_logical_emit_message(false, 'billing', 'payment')" >/dev/null
            segment=pg_wal/$(query 'select pg_walfile_name(pg_switch_wal())')
            pgbackrest check
            command=$(query 'show archive_command')
            archive() { as_server sh -c "${command//%p/$segment}"; }
            cd main
            # A standby writes into the files of old segments, and may not receive the zeros behind the last record.
            printf old | dd of="$segment" bs=1 seek=$((16 * 1024 * 1024 - 3)) conv=notrunc status=none
            archive && echo accepted
            sed -i s/payment/PAYMENT/ "$segment"
            archive || echo "refused with $?"
            """)).Succeeded();

        Assert.Equal("accepted\nrefused with 45\n", pushed.Output);
    }

    // As the server's account, with the bootstrap's own functions, settings and scripts in this test's folder.
    private Task<ToolResult> RunAsync(string script) => ExternalTool.RunAsync(
        ExternalTool.Need("bash"),
        ["-c", $$"""
            set -euo pipefail; shopt -s inherit_errexit
            BILLING_BOOTSTRAP='{{Repository.Root}}/deploy/bootstrap'
            . "$BILLING_BOOTSTRAP/common.sh"; . "$BILLING_BOOTSTRAP/tiers/postgres.sh"
            data=$PWD/main; programs=/usr/lib/postgresql/15/bin
            export PATH=$PWD/bin:$PATH PGBACKREST_CONFIG=$PWD/pgbackrest.conf PGBACKREST_LOCK_PATH=$PWD/lock PGHOST=$PWD
            as_server() { runuser -u postgres -- "$@"; }
            pgbackrest() { as_server /usr/bin/pgbackrest --stanza=billing "$@"; }
            BILLING_SECRETS=file:$PWD/secrets BILLING_BACKUP=$PWD/backup
            put_backup_settings() {
              backup_settings >pgbackrest.conf
              printf 'pg1-socket-path=%s\n' "$PWD" >>pgbackrest.conf
            }
            query() { as_server psql -p "${2:-5432}" -d postgres -qAtc "$1"; }
            serve() {
              as_server "$programs/pg_ctl" -D "$1" -w -l "$PWD/$1.log" -o "${*:2}" start >/dev/null ||
                { cat "$1.log" >&2; return 1; }
            }
            stop() {
              [[ ! -e $1/postmaster.pid ]] || as_server "$programs/pg_ctl" -D "$1" -w -m immediate stop >/dev/null
            }
            {{script}}
            """],
        _folder);
}
