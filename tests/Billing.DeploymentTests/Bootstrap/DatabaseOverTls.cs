using Billing.LocalStack.Processes;

namespace Billing.DeploymentTests.Bootstrap;

/// <summary>The connections to the database: a server of the test's own, with the access rules, the settings and the
/// certificate that a machine gets.</summary>
public sealed class DatabaseOverTls : IAsyncLifetime
{
    private readonly int _port = FreePort();
    private readonly string _folder = Directory.CreateTempSubdirectory().FullName;

    /// <summary>As on a machine: secrets, a server, and one role; it listens on an address of the network.</summary>
    public async ValueTask InitializeAsync()
    {
        Assert.SkipUnless(
            File.Exists("/usr/lib/postgresql/15/bin/pg_ctl"),
            "PostgreSQL 15 is not installed as a package of Debian's");
        Assert.SkipUnless(Environment.IsPrivilegedProcess, "needs root, as the bootstrap does");
        (await RunAsync("""
            chown postgres:postgres .; chmod 755 .
            secrets >/dev/null
            put_database_authority; put_server_certificate
            as_server "$programs/initdb" -D main --auth=trust --no-sync >/dev/null
            patroni_settings >patroni.yml
            as_server tee main/pg_hba.conf >/dev/null < <(sed -n '/^  pg_hba:/,/^  [^ ]/s/^    - //p' patroni.yml)
            as_server tee -a main/postgresql.conf >/dev/null < <(
              sed -n "/^  parameters:/,/^  [^ ]/s/^    \(.*\): '*\([^']*\)'*$/\1 = '\2'/p" patroni.yml
              printf "listen_addresses = '127.0.0.1'\nport = $port\nunix_socket_directories = '$PWD'\n")
            as_server "$programs/pg_ctl" -D main -w -l server.log start >/dev/null || { cat server.log >&2; exit 1; }
            as_server psql -p "$port" -q -d postgres <<END
            create role billing_backend login password 'secret-of-backend';
            create database billing;
            END
            """)).Succeeded();
    }

    public async ValueTask DisposeAsync()
    {
        await RunAsync("as_server \"$programs/pg_ctl\" -D main -w -m immediate stop");
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task A_backend_is_admitted_over_TLS_only()
    {
        var tried = (await RunAsync("""
            connect verify-full "$database_authority"
            connect disable "$database_authority"
            """)).Succeeded();

        Assert.Equal("TLSv1.3\nno pg_hba.conf entry\n", tried.Output);
    }

    [Fact]
    public async Task A_server_that_another_authority_has_signed_or_at_an_address_that_it_does_not_name_is_refused()
    {
        var tried = (await RunAsync("""
            connect verify-full <(secrets --folder other >/dev/null; cat other/tls/ca)
            host=127.0.0.2 connect verify-full "$database_authority"
            """)).Succeeded();

        Assert.Equal("certificate verify failed\ndoes not match host name \"127.0.0.2\"\n", tried.Output);
    }

    [Fact]
    public async Task A_new_authority_and_then_a_new_certificate_are_taken_without_a_restart_or_a_refusal()
    {
        var tried = (await RunAsync("""
            serial() { openssl x509 -in "$server_certificate" -noout -serial; }
            cp "$database_authority" before; first=$(serial)
            secrets --rotate tls/ca >/dev/null; put_database_authority; connect verify-full "$database_authority"
            secrets --rotate >/dev/null; put_server_certificate; [[ $(serial) != "$first" ]]
            # The server reads it a moment after it is told to.
            until [[ $(connect verify-full before) == certificate* ]]; do sleep 0.1; done
            connect verify-full "$database_authority"
            """)).Succeeded();

        Assert.Equal("TLSv1.3\nTLSv1.3\n", tried.Output);
    }

    [Fact]
    public async Task Every_access_rule_of_the_network_requires_TLS_and_standbys_check_whom_they_follow()
    {
        var settings = (await RunAsync("cat patroni.yml")).Succeeded().Output.Split('\n');
        var rules = settings.SkipWhile(line => line != "  pg_hba:").Skip(1)
            .TakeWhile(line => line.StartsWith("    - ", StringComparison.Ordinal))
            .Select(line => line[6..].Split(' ', StringSplitOptions.RemoveEmptyEntries)).ToList();

        Assert.NotEmpty(rules);
        Assert.All(rules, rule => Assert.True(
            rule[0] is "local" or "hostssl" || (rule[0] == "host" && rule[3] == "127.0.0.1/32"),
            string.Join(' ', rule)));
        Assert.Equal(2, settings.Count(line => line.Contains("username: billing_re", StringComparison.Ordinal)));
        Assert.All(
            settings.Where(line => line.Contains("username: billing_re", StringComparison.Ordinal)),
            line => Assert.Contains("sslmode: verify-full, sslrootcert: ", line, StringComparison.Ordinal));
    }

    private static int FreePort()
    {
        using var ports = new FreePorts();
        return ports.Take();
    }

    // With the bootstrap's own functions; what it keeps below /etc/billing is in this test's folder.
    private Task<ToolResult> RunAsync(string script) => ExternalTool.RunAsync(
        ExternalTool.Need("bash"),
        ["-c", $$"""
            set -euo pipefail; shopt -s inherit_errexit
            BILLING_BOOTSTRAP='{{Repository.Root}}/deploy/bootstrap'
            . "$BILLING_BOOTSTRAP/common.sh"; . "$BILLING_BOOTSTRAP/tiers/postgres.sh"
            programs=/usr/lib/postgresql/15/bin; port={{_port}}; export PGHOST=$PWD
            database_authority=$PWD/ca.pem server_certificate=$PWD/postgres.pem
            BILLING_SECRETS=file:$PWD/secrets BILLING_POSTGRES_OWN=true BILLING_NAME=postgres-1
            BILLING_ADDRESS=127.0.0.1 BILLING_NETWORK=127.0.0.0/8 BILLING_ETCD=127.0.0.1
            secrets() {
              bash '{{Repository.Root}}/deploy/terraform/secrets.sh' --folder "$PWD/secrets" "$@"
            }
            as_server() { runuser -u postgres -- "$@"; }
            systemctl() { [[ -e main/postmaster.pid ]]; }
            as_superuser() { as_server psql -p "$port" -d postgres -q "$@"; }
            # connect SSLMODE AUTHORITY: as a backend does; prints the version of TLS or why it was refused.
            connect() {
              local printed
              printed=$(PGPASSWORD=secret-of-backend psql "host=${host:-127.0.0.1} hostaddr=127.0.0.1 port=$port
                dbname=billing user=billing_backend sslmode=$1 sslrootcert=$2" -At \
                -c 'select version from pg_stat_ssl where pid = pg_backend_pid()' 2>&1) || true
              grep -oE 'TLSv1.3|no pg_hba.conf entry|certificate verify failed|does not match host name "127.0.0.2"' \
                <<<"$printed" || printf '%s\n' "$printed"
            }
            {{script}}
            """],
        _folder);
}
