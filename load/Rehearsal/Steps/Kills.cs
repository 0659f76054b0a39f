
namespace Billing.Rehearsal.Steps;

/// <summary>Kills one service of each kind with <c>kill -9</c>; systemd must restart it.</summary>
internal static class Kills
{
    private static readonly (string Machine, string Unit, string Ready)[] Services =
    [
        (
            "proxy-3", "billing-proxy",
            "curl -fsS --cacert /etc/billing/tls/proxy.pem -o /dev/null https://$BILLING_ADDRESS:5080/health/ready"),
        ("payment-backend-1", "billing-backend", "curl -fsS -o /dev/null http://$BILLING_ADDRESS:5001/health/ready"),
        ("balance-backend-3", "billing-backend", "curl -fsS -o /dev/null http://$BILLING_ADDRESS:5001/health/ready"),
        // Kafka's own tools take longer to start than the broker does where there is little processor time,
        // and take that from it.
        ("kafka-2", "billing-kafka", "(exec 3<>/dev/tcp/$BILLING_ADDRESS/9092)"),
    ];

    /// <summary>Kills the services in sequence, each when the previous one is ready again.</summary>
    public static async Task RunAsync(Platform platform, CancellationToken cancellationToken)
    {
        foreach (var (machine, unit, ready) in Services)
        {
            await KillAsync(platform[machine], $"systemctl show -p MainPID --value {unit}", ready, cancellationToken);
        }
        // Patroni and the server that it has started, one after the other.
        var database = await DatabaseMachines.PrimaryAsync(platform, cancellationToken);
        const string Writable = "[ $(runuser -u postgres -- psql -qAt -c 'select pg_is_in_recovery()') = f ]";
        await KillAsync(database, "systemctl show -p MainPID --value patroni", Writable, cancellationToken);
        await KillAsync(database, "head -n 1 /var/lib/postgresql/15/main/postmaster.pid", Writable, cancellationToken);
    }

    /// <param name="machine">The service's machine.</param>
    /// <param name="main">A command that prints the id of the service's main process.</param>
    /// <param name="ready">A command that succeeds when the service is ready.</param>
    private static async Task KillAsync(
        Machines.RunningMachine machine, string main, string ready, CancellationToken cancellationToken) =>
            await machine.RunAsync(
            $$"""
            . /etc/billing/host.env
            main() { {{main}} || echo 0; }
            before=$(main)
            kill -9 "$before"
            for second in $(seq 60); do
              sleep 1
              if [ "$(main)" != "$before" ] && [ "$(main)" != 0 ] && {{ready}} 2>/dev/null; then exit 0; fi
            done
            echo "{{main}}: not ready again within a minute" >&2
            exit 1
            """,
            cancellationToken);
}
