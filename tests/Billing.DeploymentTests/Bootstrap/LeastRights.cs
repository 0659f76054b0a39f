namespace Billing.DeploymentTests.Bootstrap;

/// <summary>Who creates topics, rights and tables: machines that may do it anyway. The functions for the installation
/// run in a shell, without a machine and with a stand-in for the operators' program.</summary>
public sealed class LeastRights : IDisposable
{
    private const string Operators = """
        mkdir -p operator; printf '#!/bin/bash\necho "$PWD: $*"\n' >operator/Billing.Operator
        chmod +x operator/Billing.Operator; programs=$PWD settings_folder=$PWD/settings
        """;

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory();

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public async Task The_monitoring_host_is_installed_with_the_secrets_of_its_role_and_has_one_of_them_in_a_file()
    {
        var written = (await RunAsync("""
            # As packaged.
            cp -r "$BILLING_BOOTSTRAP" bootstrap
            cp -r "$BILLING_BOOTSTRAP/../monitoring/prometheus/rules" bootstrap/monitoring/
            BILLING_BOOTSTRAP=$PWD/bootstrap
            . "$BILLING_BOOTSTRAP/tiers/monitoring.sh"
            mkdir kafka postgres tls
            echo -n secret-of-operator >kafka/operator; echo -n secret-of-audit >postgres/audit
            printf -- '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----' >tls/ca
            put_file() { printf '%s\n' "$1"; sed 's/^/  /' | grep secret-of || true; }
            systemctl() { :; }
            BILLING_HOSTS=proxy-1=10.0.0.31 BILLING_POSTGRES=10.0.0.21:5432
            install_tier
            """)).Succeeded().Output;

        Assert.Equal(
            [
                "/etc/billing/operator/appsettings.json",
                "    \"Billing:Kafka:Properties:sasl.password\": \"secret-of-operator\"",
            ],
            written.Split('\n').Where(line => line.Contains("appsettings", StringComparison.Ordinal)
                || line.Contains("secret-of", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData(
        "10.0.0.11",
        "settings/admin: topics --access BOOTSTRAP/kafka/access.txt --proxy proxy-1 --proxy proxy-2\n")]
    [InlineData("10.0.1.11", "")]
    public async Task The_first_broker_creates_the_topics_and_the_rights_of_each_proxy_as_the_administrator(
        string address, string made)
    {
        var output = (await RunAsync($$"""
            . "$BILLING_BOOTSTRAP/tiers/kafka.sh"
            {{Operators}}
            own_user() { :; }; install_archive() { :; }; run_service() { :; }; billing-kafka() { :; }
            pem() { :; }; kafka_properties() { :; }; format_storage() { :; }; is_broker_login() { :; }
            # The folders of a machine are left alone; this one is the administrator's.
            put_file() { cat >/dev/null; }
            put_settings() {
              [[ " ${settings[*]} " == *' admin '*secret-of-admin* ]] && mkdir -p "$settings_folder/$1"
            }
            mkdir kafka; echo -n secret-of-admin >kafka/admin
            BILLING_HOSTS=proxy-1=10.0.0.31,kafka-1=10.0.0.11,proxy-2=10.0.1.31
            BILLING_KAFKA_NODES=1@10.0.0.11,2@10.0.1.11 BILLING_ADDRESS={{address}}
            install_tier
            """)).Succeeded().Output;

        Assert.Equal(
            made, output.Replace(_folder.FullName + "/", "", StringComparison.Ordinal)
                .Replace(Repository.Root + "/deploy/bootstrap", "BOOTSTRAP", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_machine_of_the_first_database_creates_the_tables_and_grants_the_rights_in_all_as_their_owner()
    {
        var made = (await RunAsync($$"""
            . "$BILLING_BOOTSTRAP/tiers/postgres.sh"
            {{Operators}}
            psql() { local IFS=' '; echo "$PGPASSWORD $PGTARGETSESSIONATTRS $PGSSLMODE: $*"; }
            mkdir postgres; echo -n 'new-of-owner old-of-owner' >postgres/owner
            BILLING_POSTGRES='billing=10.0.0.21:5432,10.0.1.21:5432 two=10.0.1.22:5432'
            make_tables
            """)).Succeeded().Output.Split('\n');

        Assert.Contains(
            "schema --postgres billing:Host=10.0.0.21:5432,10.0.1.21:5432;Database=billing;Username=billing_owner;"
                + "Password=new-of-owner;SSL Mode=VerifyFull;", made[0], StringComparison.Ordinal);
        Assert.Contains(" --postgres two:Host=10.0.1.22:5432;", made[0], StringComparison.Ordinal);
        Assert.Equal(2, made[1..].Count(line => line.StartsWith(
            "new-of-owner read-write verify-full: ", StringComparison.Ordinal)
            && line.EndsWith("/postgres/grants.sql", StringComparison.Ordinal)));
        Assert.Contains("-h 10.0.0.21,10.0.1.21 -p 5432,5432 -U billing_owner", made[1], StringComparison.Ordinal);
    }

    private Task<ToolResult> RunAsync(string script) => ExternalTool.RunAsync(
        ExternalTool.Need("bash"),
        ["-c", $$"""
            set -euo pipefail; shopt -s inherit_errexit; BILLING_BOOTSTRAP='{{Repository.Root}}/deploy/bootstrap'
            . "$BILLING_BOOTSTRAP/common.sh"
            chown() { :; }; install() { :; }; need_packages() { :; }; install_program() { :; }
            retry() { "$@"; }
            BILLING_SECRETS=file:$PWD BILLING_KAFKA=10.0.0.11:9092 BILLING_PARTITIONS=3 BILLING_POSTGRES_OWN=true
            BILLING_KAFKA_NODES=1@10.0.0.11 BILLING_INSECURE=false
            {{script}}
            """],
        _folder.FullName);
}
