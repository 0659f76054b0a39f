using Billing.LocalStack.Processes;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>New values of all secrets and a new authority of the certificates, as docs/operations/secure.md describes
/// it; nothing stops for it.</summary>
internal static class Rotation
{
    private const string Install = "bash /opt/billing/bootstrap/install.sh";

    /// <summary>What a broker waits for after a change, before the next one: that all replicas
    /// are in sync again.</summary>
    public const string InSync =
        "for _ in {1..120}; do [[ -n $(billing-kafka topics --describe --under-replicated-partitions) ]] || exit 0; "
        + "sleep 1; done; exit 1";

    // As when the network between the tiers fails for a moment: whoever had a session has to open another one,
    // with the password of now.
    private const string EndSessions =
        "runuser -u postgres -- psql -qAtd billing -c \"select count(pg_terminate_backend(pid)) from pg_stat_activity "
        + "where usename = 'billing_backend'\"";

    private static string ServesItsNewCertificate(string tier, string address) =>
        $"served=$(openssl s_client -connect {address} -CAfile /etc/billing/secrets/tls/ca -verify_return_error "
        + "</dev/null 2>/dev/null | openssl x509 -noout -serial); "
        + $"[[ $served == $(openssl x509 -in /etc/billing/secrets/tls/{tier} -noout -serial) ]]";

    /// <summary>Replaces the secrets, and installs every machine that reads one again.</summary>
    /// <exception cref="StackException">An old password is still valid, or an old certificate still used.</exception>
    public static async Task RunAsync(Platform platform, Action<string> progress, CancellationToken cancellationToken)
    {
        var old = await File.ReadAllTextAsync(Path.Combine(platform.Site.Secrets, "postgres/audit"), cancellationToken);
        await platform.MakeSecretsAsync(cancellationToken, "--rotate", "tls/ca");
        // Who does not trust the new authority yet refuses the certificates that it signs.
        var brokers = platform.Tier("kafka");
        await BrokersAsync("brokers trust both authorities");
        await InstallAsync(
        [
            .. platform.Tier("balance-backend"), .. platform.Tier("payment-backend"), .. platform.Tier("proxy"),
            .. platform.Tier("postgres"), .. platform.Tier("monitoring"),
        ]);
        await platform.MakeSecretsAsync(cancellationToken, "--rotate");
        await InstallAsync(
            [.. platform.Tier("balance-backend"), .. platform.Tier("payment-backend"), .. platform.Tier("proxy")]);
        await BrokersAsync("brokers accept both passwords, and have new certificates");
        await BrokersAsync("brokers use the new one");
        progress("accounts on the brokers");
        await brokers[0].RunAsync("billing-kafka accounts", cancellationToken);
        var primaries = await DatabaseMachines.PrimariesAsync(platform, cancellationToken);
        await InstallAsync(platform.Tier("postgres").OrderBy(machine => !primaries.Contains(machine)));
        foreach (var primary in primaries)
        {
            await primary.RunAsync(EndSessions, cancellationToken);
            await primary.RunAsync(
                ServesItsNewCertificate("postgres", "127.0.0.1:5432 -starttls postgres"), cancellationToken);
        }
        foreach (var broker in brokers)
        {
            await broker.RunAsync(
                ServesItsNewCertificate("kafka", broker.Machine.Address + ":9092"), cancellationToken);
        }
        await InstallAsync(platform.Tier("monitoring"));
        await BrokersAsync("brokers accept only the new one");
        var (exitCode, _, _) = await primaries[0].Shell().TryAsync(
            [$"PGPASSWORD={old} psql -h 127.0.0.1 -U billing_audit -d billing -c 'select 1'"], cancellationToken);
        if (exitCode == 0)
        {
            throw new StackException("The database accepts the password of before.");
        }

        async Task InstallAsync(IEnumerable<RunningMachine> machines)
        {
            foreach (var machine in machines)
            {
                progress(machine.Machine.Name);
                await machine.RunAsync(Install, cancellationToken);
            }
        }

        async Task BrokersAsync(string what)
        {
            progress(what);
            foreach (var broker in brokers)
            {
                await broker.RunAsync($"{Install}; {InSync}", cancellationToken);
            }
        }
    }
}
