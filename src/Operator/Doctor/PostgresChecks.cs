using Npgsql;

namespace Billing.Operator.Doctor;

/// <summary>Asks a database whether what it acknowledges outlives a loss of power, of its disk
/// and of its machine.</summary>
internal static class PostgresChecks
{
    // Each row: whether it is serious (null: if other machines reach the database), what is wrong, and what mends it.
    private const string Questions = """
        select true, 'acknowledges what a loss of power takes back: ' || name || ' is off', name
            from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
        union all select false, 'acknowledges, to sessions without settings of their own, '
                || 'what a loss of power takes back: synchronous_commit is off for '
                || coalesce('the role ' || rolname, 'every role') || coalesce(' in the database ' || datname, ''),
                'synchronous_commit'
            from pg_db_role_setting settings left join pg_roles on pg_roles.oid = setrole
                left join pg_database on pg_database.oid = setdatabase
            where 'synchronous_commit=off' = any (setconfig) and (setdatabase = 0 or datname = current_database())
                and current_setting('synchronous_commit') <> 'off'
        union all select false, 'does not notice damaged pages', 'pg_checksums --enable'
            where current_setting('data_checksums') = 'off'
        union all select null, 'is not backed up: its log is not archived', 'archive_mode, archive_command'
            where current_setting('archive_mode') = 'off'
        union all select true, 'has not archived its log since '
                || coalesce(date_trunc('second', last_archived_time)::text, 'its start'), 'archive_command'
            from pg_stat_archiver where current_setting('archive_mode') <> 'off'
                and last_failed_time > coalesce(last_archived_time, '-infinity')
        union all select false, 'last archived its log at ' || date_trunc('second', last_archived_time),
                'archive_timeout'
            from pg_stat_archiver where current_setting('archive_mode') <> 'off'
                and last_archived_time < now() - interval '1 hour'
        union all select null, 'has no standby: payments stop with its machine',
                'tiers={postgres={count=2}}; --postgres-replicas 2'
            where not exists (select from pg_stat_replication)
        union all select null, 'acknowledges what its standby does not have yet', 'synchronous_standby_names'
            where exists (select from pg_stat_replication)
                and (current_setting('synchronous_standby_names') = ''
                    or current_setting('synchronous_commit') = 'local')
        union all select null, 'is used without TLS', 'SSL Mode in Billing:EventStore:ConnectionString'
            where not (select ssl from pg_stat_ssl where pid = pg_backend_pid())
        """;

    public static async Task<IReadOnlyList<Finding>> OfAsync(
        string name, string connectionString, CancellationToken cancellationToken)
    {
        var findings = new List<Finding>();
        try
        {
            await using var source = NpgsqlDataSource.Create(
                new NpgsqlConnectionStringBuilder(connectionString) { Pooling = false });
            await using var command = source.CreateCommand(Questions);
            await using var row = await command.ExecuteReaderAsync(cancellationToken);
            var host = new NpgsqlConnectionStringBuilder(connectionString).Host!.Split(',')[0];
            while (await row.ReadAsync(cancellationToken))
            {
                var found = Finding.At(host, $"(database {name}) {row.GetString(1)}", row.GetString(2));
                findings.Add(row.IsDBNull(0) ? found : found with { IsSerious = row.GetBoolean(0) });
            }
        }
        catch (NpgsqlException e)
        {
            findings.Add(new Finding(
                true, $"the database {name} does not answer: {e.Message}", "Billing:EventStore:ConnectionString"));
        }
        return findings;
    }
}
