using Billing.LocalStack.Processes;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>New values of all secrets and a new authority of the certificates, as docs/operations/secure.md describes
/// it; nothing stops for it.</summary>
internal sealed class Rotation
{
    private const string Install = "bash /opt/billing/bootstrap/install.sh";

    /// <summary>What a broker waits for after a change, before the next one: that all replicas
    /// are in sync again.</summary>
    public const string InSync =
        "for _ in {1..120}; do [[ -n $(billing-kafka topics --describe --under-replicated-partitions) ]] || exit 0; "
        + "sleep 1; done; exit 1";

    /// <summary>What secrets.sh replaces only if it is named: it comes before what it vouches for, so that both are
    /// trusted.</summary>
    public static readonly string[] Trusted = ["tls/ca", "tokens/jwks"];

    // As when the network between the tiers fails for a moment: whoever had a session has to open another one,
    // with the password of now.
    private const string EndSessions =
        "runuser -u postgres -- psql -qAtd billing -c \"select count(pg_terminate_backend(pid)) from pg_stat_activity "
        + "where usename = 'billing_backend'\"";

    private const string Brokers = "kafka";
    private const string Databases = "postgres";

    // They have both passwords at once; everybody else comes after the servers.
    private static readonly string[] First = ["balance-backend", "payment-backend", "proxy"];

    private static readonly string[] Ordered = [.. First, Brokers, Databases];

    // Those that connect to the database by a password; Patroni's is no role's.
    private static readonly string[] Roles = ["audit", "backend", "owner", "webhooks"];

    private readonly Platform _platform;
    private readonly Action<string> _progress;
    private readonly SecretValues _before;

    private Rotation(Platform platform, Action<string> progress, SecretValues before)
    {
        _platform = platform;
        _progress = progress;
        _before = before;
    }

    /// <summary>Replaces the secrets, and installs every machine again.</summary>
    /// <exception cref="StackException">A secret is still the one of before, an old password still valid, or an old
    /// certificate still used.</exception>
    public static async Task RunAsync(Platform platform, Action<string> progress, CancellationToken cancellationToken)
    {
        var rotation = new Rotation(platform, progress, await ReadAsync(platform, cancellationToken));
        await rotation.TrustAsync(cancellationToken);
        await rotation.ReplaceAsync(cancellationToken);
    }

    // Replaces what others are trusted by, and has every machine trust both the former and the new.
    private async Task TrustAsync(CancellationToken cancellationToken)
    {
        await _platform.MakeSecretsAsync(cancellationToken, ["--rotate", .. Trusted.Intersect(_before.Names)]);
        // Who does not trust the new authority yet refuses the certificates that it signs.
        await BrokersAsync("brokers trust both authorities", cancellationToken);
        await InstallAsync(
            _platform.Machines.Where(machine => machine.Machine.Tier != Brokers), cancellationToken);
    }

    private async Task ReplaceAsync(CancellationToken cancellationToken)
    {
        await _platform.MakeSecretsAsync(cancellationToken, "--rotate");
        var after = await ReadAsync(_platform, cancellationToken);
        _before.AllReplacedIn(after, SecretValues.Kept);
        await InstallAsync(First.SelectMany(_platform.Tier), cancellationToken);
        await BrokersAsync("brokers accept both passwords, and have new certificates", cancellationToken);
        await BrokersAsync("brokers use the new one", cancellationToken);
        _progress("accounts on the brokers");
        await _platform.Tier(Brokers)[0].RunAsync("billing-kafka accounts", cancellationToken);
        var primaries = await DatabaseMachines.PrimariesAsync(_platform, cancellationToken);
        // Those of the first one come last: some log in to the others, too.
        await InstallAsync(
            _platform.Tier(Databases)
                .OrderBy(machine => (!primaries.Contains(machine), machine.Machine.Database.Length == 0)),
            cancellationToken);
        foreach (var primary in primaries)
        {
            await primary.RunAsync(EndSessions, cancellationToken);
        }
        await InstallAsync(
            _platform.Machines.Where(machine => !Ordered.Contains(machine.Machine.Tier)), cancellationToken);
        await BrokersAsync("brokers accept only the new one", cancellationToken);
        foreach (var primary in primaries)
        {
            await CheckPasswordsAsync(primary, after, cancellationToken);
        }
        _progress($"{await ServedCertificates.CheckAsync(_platform, cancellationToken)} ports show new certificates");
    }

    private static async Task<SecretValues> ReadAsync(Platform platform, CancellationToken cancellationToken) =>
        SecretValues.Read(await platform.MakeSecretsAsync(cancellationToken, "--list"), platform.Site.Secrets);

    private async Task CheckPasswordsAsync(
        RunningMachine primary, SecretValues after, CancellationToken cancellationToken)
    {
        foreach (var role in Roles)
        {
            var name = $"postgres/{role}";
            if (!await IsAcceptedAsync(after.PasswordOf(name)))
            {
                throw new StackException($"{primary.Machine.Name} refuses the password of now, {name}.");
            }
            if (await IsAcceptedAsync(_before.PasswordOf(name)))
            {
                throw new StackException($"{primary.Machine.Name} accepts the password of before, {name}.");
            }

            async Task<bool> IsAcceptedAsync(string password)
            {
                var (exitCode, _, _) = await primary.Shell().TryAsync(
                    [
                        $"PGPASSWORD={password} PGSSLMODE=require psql -h {primary.Machine.Address} -U billing_{role} "
                            + "-d billing -qAtc 'select 1'",
                    ],
                    cancellationToken);
                return exitCode == 0;
            }
        }
    }

    private async Task InstallAsync(IEnumerable<RunningMachine> machines, CancellationToken cancellationToken)
    {
        foreach (var machine in machines.ToList())
        {
            _progress(machine.Machine.Name);
            await machine.RunAsync(Install, cancellationToken);
        }
    }

    private async Task BrokersAsync(string what, CancellationToken cancellationToken)
    {
        _progress(what);
        foreach (var broker in _platform.Tier(Brokers))
        {
            await broker.RunAsync($"{Install}; {InSync}", cancellationToken);
        }
    }
}
