
namespace Billing.Rehearsal.Steps;

/// <summary>Kills one service of each kind with <c>kill -9</c>; systemd must restart it.</summary>
internal static class Kills
{
    private static readonly (string Machine, string Unit, string Ready)[] Services =
    [
        ("proxy-3", "billing-proxy", "curl -fsS -o /dev/null http://$BILLING_ADDRESS:5080/health/ready"),
        ("payment-backend-1", "billing-backend", "curl -fsS -o /dev/null http://$BILLING_ADDRESS:5001/health/ready"),
        ("balance-backend-3", "billing-backend", "curl -fsS -o /dev/null http://$BILLING_ADDRESS:5001/health/ready"),
        // Kafka's own tools take longer to start than the broker does where there is little processor time, and take that from it.
        ("kafka-2", "billing-kafka", "(exec 3<>/dev/tcp/$BILLING_ADDRESS/9092)"),
        ("postgres-1", "postgresql@15-main", "runuser -u postgres -- psql -qAt -c 'select 1' >/dev/null"),
    ];

    /// <summary>Kills the services in sequence, each when the previous one is ready again.</summary>
    public static async Task RunAsync(Platform platform, CancellationToken cancellationToken)
    {
        foreach (var (machine, unit, ready) in Services)
        {
            await platform[machine].RunAsync(
                $$"""
                . /etc/billing/host.env
                main() { systemctl show -p MainPID --value {{unit}}; }
                before=$(main)
                kill -9 "$before"
                for second in $(seq 60); do
                  sleep 1
                  if [ "$(main)" != "$before" ] && [ "$(main)" != 0 ] && {{ready}} 2>/dev/null; then exit 0; fi
                done
                echo "{{unit}} was not ready again within a minute" >&2
                exit 1
                """,
                cancellationToken);
        }
    }
}
