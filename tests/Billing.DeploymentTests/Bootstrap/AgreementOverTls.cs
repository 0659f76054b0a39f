using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;

namespace Billing.DeploymentTests.Bootstrap;

/// <summary>What the database's machines agree in: etcd and Patroni with the settings and the certificates that a
/// machine gets, on addresses of this machine's own, so that their ports are those of machines.</summary>
public sealed class AgreementOverTls : IAsyncLifetime
{
    private static readonly string Network = $"127.{1 + (Environment.ProcessId % 250)}";

    private readonly string _folder = Directory.CreateTempSubdirectory().FullName;
    private readonly List<ChildProcess> _processes = [];

    /// <summary>As on the first machine of each kind, but with a cluster of one member.</summary>
    public async ValueTask InitializeAsync()
    {
        Assert.SkipUnless(FailoverPrograms.Missing is null, FailoverPrograms.Missing ?? "");
        Assert.SkipUnless(
            File.Exists("/usr/lib/postgresql/15/bin/pg_ctl"),
            "PostgreSQL 15 is not installed as a package of Debian's");
        Assert.SkipUnless(Environment.IsPrivilegedProcess, "needs root, as the bootstrap does");
        (await RunAsync("""
            chown postgres:postgres .; chmod 755 .
            secrets >/dev/null
            put_etcd; put_database
            """)).Succeeded();
        Start("etcd", "set -a; . ./etcd.env; exec \"$ETCD\"");
        Start("patroni", """
            echo $$ >patroni.pid
            exec setpriv --reuid=postgres --regid=postgres --init-groups \
              /usr/bin/python3 "$BILLING_BOOTSTRAP/postgres/start_patroni.py" config.yml
            """);
        (await RunAsync("""
            for _ in {1..600}; do ! ask_patroni primary || exit 0; sleep 0.2; done
            tail etcd.log patroni.log >&2; exit 1
            """)).Succeeded();
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var process in Enumerable.Reverse(_processes))
        {
            await process.DisposeAsync();
        }
        await RunAsync("[[ ! -e main/postmaster.pid ]] || as_server \"$programs/pg_ctl\" -D main -w -m immediate stop");
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task Patroni_makes_a_primary_and_its_tools_work_as_documented()
    {
        var printed = (await RunAsync("""
            patronictl -c config.yml list -f tsv | cut -f 2-5 --output-delimiter=' ' | tail -n 1
            patronictl -c config.yml edit-config -s synchronous_mode_strict=true --force | tail -n 1
            patronictl -c config.yml reload billing --force | tail -n 1
            patronictl -c config.yml pause --wait | tail -n 1
            patronictl -c config.yml resume --wait | tail -n 1
            as_server /usr/bin/python3 "$BILLING_BOOTSTRAP/postgres/start_patroni.py" --alone config.yml; echo alone
            """)).Succeeded();

        Assert.Equal(
            $"""
            postgres-1 {Network}.0.21 Leader running
            Configuration changed
            Reload request received for member postgres-1 and will be processed within 2 seconds
            Success: cluster management is paused
            Success: cluster management is resumed
            alone

            """,
            printed.Output);
    }

    [Theory]
    [InlineData("etcd", "2379/health")]
    [InlineData("etcd", "2380/members")]
    [InlineData("database", "8008/health")]
    public async Task Nobody_is_answered_in_clear_without_a_certificate_or_with_one_of_another_authority(
        string machine, string place)
    {
        var answers = (await RunAsync($$"""
            at=${{machine}}:{{place}}
            ask "http://$at"
            ask "https://$at" --cacert ca.pem
            secrets --folder other >/dev/null
            ask "https://$at" --cacert ca.pem --cert other/tls/etcd
            ask "https://$at" --cacert other/tls/ca --cert etcd.pem
            ask "https://$at" --cacert ca.pem --cert etcd.pem
            """)).Succeeded().Output;

        Assert.Equal("000\n000\n000\n000\n200\n", answers);
    }

    [Fact]
    public async Task Only_etcd_is_a_member_of_it_and_who_may_read_Patronis_state_changes_nothing_without_a_password()
    {
        var answers = (await RunAsync("""
            ask "https://$etcd:2380/members" --cacert ca.pem --cert postgres.pem
            ask "https://$database:8008/restart" --cacert ca.pem --cert etcd.pem --request POST
            """)).Succeeded().Output;

        Assert.Equal("000\n401\n", answers);
    }

    [Fact]
    public async Task A_new_authority_and_new_certificates_and_passwords_are_taken_and_the_primary_goes_on()
    {
        (await RunAsync("""
            query 'select pg_postmaster_start_time()' >started
            secrets --rotate tls/ca >/dev/null
            put_database; kill -HUP "$(cat patroni.pid)"
            put_etcd
            """)).Succeeded();
        // As its installation does when the authority is another one.
        await _processes[0].StopAsync(TimeSpan.FromSeconds(10));
        Start("etcd", "set -a; . ./etcd.env; exec \"$ETCD\"");

        var printed = (await RunAsync("""
            served() {
              openssl s_client -connect "$1" -CAfile ca.pem -verify_return_error -cert etcd.pem -key etcd.pem \
                2>/dev/null </dev/null | openssl x509 -noout -serial || true
            }
            serial() { openssl x509 -in "secrets/tls/$1" -noout -serial; }
            secrets --rotate >/dev/null
            # One machine after the other has a new certificate, which those with the former one accept.
            until [[ $(ask "https://$database:8008/primary" --cacert ca.pem --cert secrets/tls/postgres) == 200 ]]; do
              sleep 0.1
            done
            until [[ $(ask "https://$etcd:2379/health" --cacert ca.pem --cert secrets/tls/postgres) == 200 ]]; do
              sleep 0.1
            done
            put_database; kill -HUP "$(cat patroni.pid)"
            put_etcd
            [[ $(served "$etcd:2379") == "$(serial etcd)" ]]
            [[ $(served "$etcd:2380") == "$(serial etcd)" ]]
            until [[ $(served "$database:8008") == "$(serial postgres)" ]]; do sleep 0.1; done
            patronictl -c config.yml edit-config -s ttl=10 --force | tail -n 1
            until [[ $(ask "https://$database:8008/primary" --cacert ca.pem --cert postgres.pem) == 200 ]]; do
              sleep 0.1
            done
            query 'select pg_postmaster_start_time()' | cmp - started
            """)).Succeeded();

        Assert.Equal("Configuration changed\n", printed.Output);
    }

    private void Start(string name, string script) => _processes.Add(ChildProcess.Start(new ChildProcessStart(
        name, ExternalTool.Need("bash"), ["-c", Script(script)], Path.Combine(_folder, name + ".log"))
    {
        WorkingDirectory = _folder,
    }));

    private Task<ToolResult> RunAsync(string script) =>
        ExternalTool.RunAsync(ExternalTool.Need("bash"), ["-c", Script(script)], _folder);

    // With the bootstrap's own functions; what it keeps on a machine is in this test's folder.
    private static string Script(string script) => $$"""
        set -euo pipefail; shopt -s inherit_errexit
        # Machines lack pyOpenSSL, which python-etcd would use.
        echo 'raise ImportError' >OpenSSL.py; export PYTHONPATH=$PWD
        etcd={{Network}}.0.11 database={{Network}}.0.21
        BILLING_BOOTSTRAP='{{Repository.Root}}/deploy/bootstrap'
        . "$BILLING_BOOTSTRAP/common.sh"; . "$BILLING_BOOTSTRAP/etcd.sh"; . "$BILLING_BOOTSTRAP/tiers/postgres.sh"
        ETCD='{{(FailoverPrograms.Missing is null ? FailoverPrograms.Etcd : "")}}' programs=/usr/lib/postgresql/15/bin
        data=$PWD/main etcd_certificate=$PWD/etcd.pem etcd_authority=$PWD/etcd-ca.pem
        database_authority=$PWD/ca.pem server_certificate=$PWD/postgres.pem
        BILLING_SECRETS=file:$PWD/secrets BILLING_POSTGRES_OWN=true BILLING_NAME=postgres-1
        BILLING_ADDRESS=$database BILLING_NETWORK=127.0.0.0/8 BILLING_ETCD=$etcd
        secrets() {
          bash "$BILLING_BOOTSTRAP/../terraform/secrets.sh" --folder "$PWD/secrets" --network {{Network}}.0.0/16 "$@"
        }
        as_server() { runuser -u postgres -- "$@"; }
        query() { as_server psql -h "$PWD" -d postgres -qAtc "$1"; }
        put_etcd() {
          pem tls/etcd >etcd.pem; pem tls/ca >etcd-ca.pem
          BILLING_ADDRESS=$BILLING_ETCD etcd_settings |
            sed "s|/var/lib/etcd/billing|$PWD/etcd-data|; s|,https://127.0.0.1:2379||" >etcd.env
        }
        put_database() {
          put_database_authority; put_pem tls/postgres "$server_certificate" root:postgres 640
          patroni_settings | sed "s|listen: 127.0.0.1,|listen: |; s|/etc/billing/postgresql.conf|$PWD/own.conf|
            s|/var/lib/postgresql/.pgpass|$PWD/pgpass|
            s|^  parameters:|&\n    unix_socket_directories: $PWD|" >config.yml
          touch own.conf
        }
        # ask ADDRESS CURL'S-ARGUMENT...: prints the status of the answer, 000 if there is none.
        ask() { curl -s -o /dev/null -m 5 -w '%{http_code}\n' --http1.1 "${@:2}" "$1" || true; }
        {{script}}
        """;
}
