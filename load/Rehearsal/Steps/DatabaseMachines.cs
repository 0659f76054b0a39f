using Billing.LocalStack.Processes;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>The machines of the databases: which of them is the primary, and what happens when one
/// burns with its disk.</summary>
internal static class DatabaseMachines
{
    // Patroni answers those only who have a certificate.
    private const string Ask =
        "curl -fsS -m 2 -o /dev/null --cacert /etc/billing/tls/database-ca.pem --cert /etc/billing/tls/postgres.pem";

    // Far longer than a standby takes to become the primary.
    private static readonly TimeSpan Gone = TimeSpan.FromSeconds(30);

    /// <summary>The machines of the first database.</summary>
    public static IReadOnlyList<RunningMachine> OfFirst(Platform platform) => Of(platform, "");

    /// <summary>Waits until one machine of the first database is its primary, for at most two minutes.</summary>
    public static Task<RunningMachine> PrimaryAsync(Platform platform, CancellationToken cancellationToken) =>
        FindAsync(OfFirst(platform), "primary", cancellationToken);

    /// <summary>Waits until the disk of a second machine of the first database has every commit,
    /// for at most two minutes.</summary>
    public static Task<RunningMachine> StandbyAsync(Platform platform, CancellationToken cancellationToken) =>
        FindAsync(OfFirst(platform), "synchronous", cancellationToken);

    /// <summary>Waits until each database has a primary.</summary>
    public static async Task<IReadOnlyList<RunningMachine>> PrimariesAsync(
        Platform platform, CancellationToken cancellationToken)
    {
        var found = new List<RunningMachine>();
        foreach (var database in platform.Topology.Tier("postgres").Select(machine => machine.Database).Distinct())
        {
            found.Add(await FindAsync(Of(platform, database), "primary", cancellationToken));
        }
        return found;
    }

    /// <summary>The options of the command line for databases, as one of their roles.</summary>
    /// <param name="databases">As in <c>BILLING_POSTGRES</c>.</param>
    /// <param name="role">The role without its prefix, also the name of its secret.</param>
    public static string Options(string databases, string role) =>
        string.Join(' ', databases.Split(' ').Select(database =>
        {
            var (name, servers) =
                database.Split('=') is [var first, var second] ? (first + ":", second) : ("", database);
            var primary = servers.Contains(',', StringComparison.Ordinal) ? "Target Session Attributes=primary;" : "";
            // On the machine of a database itself, to the one that is restored beside it, there is no network between.
            var verified = servers.StartsWith("127.", StringComparison.Ordinal)
                ? ""
                : "SSL Mode=VerifyFull;Root Certificate=/etc/billing/tls/database-ca.pem;";
            return $"--postgres \"{name}Host={servers};{primary}{verified}Database=billing;Username=billing_{role};"
                + $"Password=$(cut -d ' ' -f 1 /etc/billing/secrets/postgres/{role})\"";
        }));

    /// <summary>Ends a machine at once and deletes its disk; later, a new machine takes its place and
    /// becomes a standby.</summary>
    public static async Task BurnAsync(Platform platform, RunningMachine burnt, CancellationToken cancellationToken)
    {
        await platform.BurnAsync(burnt, cancellationToken);
        await Task.Delay(Gone, cancellationToken);
        await platform.ReplaceAsync(burnt.Machine, cancellationToken);
        var standby = await StandbyAsync(platform, cancellationToken);
        if (standby.Machine.Name != burnt.Machine.Name)
        {
            throw new StackException($"{burnt.Machine.Name} has not become a standby.");
        }
    }

    private static IReadOnlyList<RunningMachine> Of(Platform platform, string database) =>
        [.. platform.Tier("postgres").Where(machine => machine.Machine.Database == database)];

    private static async Task<RunningMachine> FindAsync(
        IReadOnlyList<RunningMachine> machines, string role, CancellationToken cancellationToken) =>
        await Poll.LastAsync(
            async () =>
            {
                foreach (var machine in machines.Where(machine => machine.IsRunning))
                {
                    var (exitCode, _, _) = await machine.Shell().TryAsync(
                        [$"{Ask} https://{machine.Machine.Address}:8008/{role}"],
                        cancellationToken);
                    if (exitCode == 0)
                    {
                        return machine;
                    }
                }
                return null;
            },
            found => found is not null, TimeSpan.FromMinutes(2), TimeSpan.FromSeconds(1), cancellationToken)
            ?? throw new StackException($"No machine of the database is {role}.");
}
