
namespace Billing.Rehearsal.Steps;

/// <summary>What payments take on the machines' disks.</summary>
/// <param name="Bytes">Its size on all machines, in bytes.</param>
internal sealed record DiskUse(string What, long Bytes, double BytesPerPayment)
{
    private static readonly (string Tier, string What, string Command)[] Sizes =
    [
        ("postgres", "database", Query("select pg_database_size('billing')")),
        ("postgres", "write-ahead log", Query("select pg_current_wal_lsn() - '0/0'")),
        ("archive", "write-ahead log as archived",
            "find /srv/billing/shared/backup -path '*/archive/*' -type f -exec cat {} + | wc -c"),
        ("kafka", "payment topics on all brokers", Topics("billing.payments.*")),
        ("kafka", "event topic on all brokers", Topics("billing.events-*")),
        ("kafka", "reply topics on all brokers", Topics("billing.replies.*")),
    ];

    /// <summary>Reads the sizes, those of databases and brokers summed over all of them;
    /// each standby has a copy of its database.</summary>
    public static async Task<IReadOnlyList<DiskUse>> OfAllAsync(Platform platform, CancellationToken cancellationToken)
    {
        var primaries = await DatabaseMachines.PrimariesAsync(platform, cancellationToken);
        var payments = await SumAsync(
            primaries, Query("select count(*) from billing.mt_events where version > 0"), cancellationToken);
        var uses = new List<DiskUse>();
        foreach (var (tier, what, command) in Sizes)
        {
            // All databases archive to one folder.
            var machines = tier switch
            {
                "archive" => [primaries[0]],
                "postgres" =>
                primaries,
                _ => platform.Tier(tier)
            };
            var bytes = await SumAsync(machines, command, cancellationToken);
            uses.Add(new DiskUse(what, bytes, (double)bytes / payments));
        }
        return uses;
    }

    private static string Query(string sql) => $"runuser -u postgres -- psql -qAt -d billing -c \"{sql}\"";

    // A broker may have no replica of any of them.
    private static string Topics(string pattern) =>
        $"find /var/lib/billing-kafka -path '*/{pattern}/*.log' -exec cat {{}} + | wc -c";

    private static async Task<long> SumAsync(
        IReadOnlyList<Machines.RunningMachine> machines, string command, CancellationToken cancellationToken)
    {
        var sum = 0L;
        foreach (var machine in machines)
        {
            sum += long.Parse(await machine.RunAsync(command, cancellationToken));
        }
        return sum;
    }
}
