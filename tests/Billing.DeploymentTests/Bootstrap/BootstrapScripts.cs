using System.Text.RegularExpressions;

namespace Billing.DeploymentTests.Bootstrap;

/// <summary>The functions for the installation of machines, without a machine: each test runs them in a shell,
/// in its own folder.</summary>
public sealed class BootstrapScripts : IDisposable
{
    private const string Verified =
        ";SSL Mode=VerifyFull;Root Certificate=/etc/billing/tls/database-ca.pem";

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory();

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public async Task A_missing_settings_file_is_reported() =>
        AssertRefused(
            "nowhere/host.env is missing: it must contain this machine's settings",
            await RunAsync("load_settings nowhere/host.env"));

    [Fact]
    public async Task A_missing_setting_is_reported() =>
        AssertRefused(
            "BILLING_ZONE is missing in /etc/billing/host.env",
            await RunAsync("BILLING_NAME=proxy-1; require_settings BILLING_NAME BILLING_ZONE"));

    [Theory]
    [InlineData("short", "must be 8 to 200 letters, digits")]
    [InlineData("with \"quotes\" in it", "must be 8 to 200 letters, digits")]
    [InlineData("", "must be 8 to 200 letters, digits")]
    public async Task A_secret_that_would_break_a_file_is_rejected_and_not_printed(string value, string message)
    {
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "one"), value, TestContext.Current.CancellationToken);

        var result = await RunAsync(
            $"BILLING_SECRETS=file:{_folder.FullName}; password=$(secret one); echo \"not reached: $password\"");

        AssertRefused(message, result);
        Assert.DoesNotContain("not reached", result.Output, StringComparison.Ordinal);
        Assert.True(value.Length == 0 || !(result.Output + result.Errors).Contains(value, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Secrets_only_come_from_the_parameter_store_or_a_folder() =>
        AssertRefused(
            "BILLING_SECRETS=http://there: must begin with ssm: or file:",
            await RunAsync("BILLING_SECRETS=http://there; secret one"));

    [Theory]
    [InlineData("BILLING_POSTGRES_OWN=true put_database_authority", "0\nca of-the-platform\n")]
    [InlineData("BILLING_POSTGRES_OWN=false put_database_authority", "0\npostgres-ca of-the-provider\n")]
    // Programs read this one when they start only.
    [InlineData("BILLING_KAFKA_NODES=1@10.0.0.1 put_broker_authority", "1\nca of-the-platform\n")]
    [InlineData("BILLING_KAFKA_NODES= put_broker_authority", "1\nkafka-ca of-the-provider\n")]
    public async Task Programs_trust_the_authority_of_the_servers_that_they_use(string put, string trusted)
    {
        var result = (await RunAsync($$"""
            chown() { :; }
            BILLING_SECRETS=file:$PWD database_authority=$PWD/trusted.pem broker_authority=$PWD/trusted.pem
            mkdir tls; one() { printf -- '-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----' "$1"; }
            one 'ca of-the-platform' >tls/ca; one 'postgres-ca of-the-provider' >tls/postgres-ca
            one 'kafka-ca of-the-provider' >tls/kafka-ca
            changed=0; {{put}}; echo "$changed"; sed -n 2p trusted.pem
            """)).Succeeded();

        Assert.Equal(trusted, result.Output);
    }

    [Fact]
    public async Task A_certificate_that_is_none_is_rejected_and_not_printed()
    {
        var result = await RunAsync(
            "BILLING_SECRETS=file:$PWD; mkdir tls; echo -n a-password >tls/ca; it=$(pem tls/ca); echo \"not reached\"");

        AssertRefused("the secret tls/ca in", result);
        Assert.DoesNotContain("a-password", result.Output + result.Errors, StringComparison.Ordinal);
        Assert.DoesNotContain("not reached", result.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Only_a_file_with_different_content_is_replaced_and_counts_as_a_change()
    {
        var result = (await RunAsync("""
            chown() { :; }
            put_file folder/file root:root 640 <<<one; echo "$changed"
            changed=0; put_file folder/file root:root 640 <<<one; echo "$changed"
            changed=0; put_file folder/file root:root 640 <<<two; echo "$changed"
            cat folder/file; stat -c %a folder/file; ls -A folder
            """)).Succeeded();

        Assert.Equal("1\n0\n1\ntwo\n640\nfile\n", result.Output);
    }

    [Fact]
    public async Task The_names_of_the_machines_survive_a_reboot_of_a_cloud_image()
    {
        var result = (await RunAsync("""
            chown() { :; }
            hosts_file=$PWD/hosts; cloud_settings=$PWD/cloud; mkdir cloud
            BILLING_HOSTS=proxy-1=10.0.0.1,kafka-1=10.0.0.2
            put_host_names; tail -n 2 hosts; cat cloud/99-billing.cfg
            """)).Succeeded();

        Assert.Equal("10.0.0.1 proxy-1\n10.0.0.2 kafka-1\nmanage_etc_hosts: false\n", result.Output);
    }

    [Fact]
    public async Task Settings_are_written_to_a_file_that_a_program_can_read()
    {
        var result = (await RunAsync("""
            install() { mkdir -p "${!#}"; }
            chown() { :; }
            BILLING_SECRETS=file:$PWD; settings_folder=$PWD
            BILLING_KAFKA=10.0.0.1:9092,10.0.0.2:9092; BILLING_PARTITIONS=3
            mkdir kafka; echo -n secret-of-proxy >kafka/proxy-1
            settings=(Urls http://10.0.0.3:5000)
            kafka_settings proxy-1
            put_settings proxy billing
            cat proxy/appsettings.json
            """)).Succeeded();

        using var json = System.Text.Json.JsonDocument.Parse(result.Output);
        Assert.Equal("http://10.0.0.3:5000", json.RootElement.GetProperty("Urls").GetString());
        Assert.Equal(
            "secret-of-proxy", json.RootElement.GetProperty("Billing:Kafka:Properties:sasl.password").GetString());
        Assert.Equal(
            "10.0.0.1:9092,10.0.0.2:9092", json.RootElement.GetProperty("Billing:Kafka:BootstrapServers").GetString());
    }

    [Theory]
    [InlineData("10.0.0.1:5432", "billing 10.0.0.1:5432\n")]
    [InlineData("10.0.0.1:5432,10.0.1.1:5432", "billing 10.0.0.1:5432,10.0.1.1:5432\n")]
    [InlineData(
        "billing=10.0.0.1:5432 two=10.0.1.2:5432,10.0.2.2:5432",
        "billing 10.0.0.1:5432\ntwo 10.0.1.2:5432,10.0.2.2:5432\n")]
    public async Task Databases_have_names_and_the_only_one_needs_none(string variable, string expected) =>
        Assert.Equal(expected, (await RunAsync($"BILLING_POSTGRES='{variable}'; databases")).Succeeded().Output);

    [Fact]
    public async Task A_backend_is_given_all_databases_by_name_and_all_opening_limits_by_currency()
    {
        var result = (await RunAsync("""
            . "$BILLING_BOOTSTRAP/backend.sh"
            put_file() { cat >/dev/null; }
            put_database_authority() { :; }; put_broker_authority() { :; }
            sysctl() { :; }
            install_program() { :; }
            kafka_settings() { :; }
            put_settings() { printf '%s\n' "${settings[@]}"; }
            run_service() { :; }
            wait_until_ready() { :; }
            BILLING_SECRETS=file:$PWD; BILLING_ADDRESS=10.0.0.9
            mkdir postgres; echo -n secret-of-backend >postgres/backend
            BILLING_POSTGRES='billing=10.0.0.1:5432 two=10.0.1.2:5432,10.0.2.2:5432'
            install_backend Payments payment-backend
            BILLING_OPENING_LIMITS='USD=500 EUR=450.5'
            install_backend Payments payment-backend
            """)).Succeeded();

        Assert.Contains(
            "Billing:EventStore:Databases:billing\nHost=10.0.0.1:5432;Database=billing;Username=billing_backend;"
                + $"Password=secret-of-backend{Verified}\n", result.Output, StringComparison.Ordinal);
        Assert.Contains(
            "Billing:EventStore:Databases:two\nHost=10.0.1.2:5432,10.0.2.2:5432;Database=billing;"
                + $"Username=billing_backend;Password=secret-of-backend{Verified};Target Session Attributes=primary\n",
            result.Output, StringComparison.Ordinal);
        Assert.Single(Regex.Matches(
            result.Output,
            "Billing:Backend:OpeningLimits:USD\n500\nBilling:Backend:OpeningLimits:EUR\n450.5\n"));
    }

    [Fact]
    public async Task While_a_secret_is_replaced_programs_are_given_both_passwords_and_servers_the_new_one()
    {
        var result = (await RunAsync("""
            BILLING_SECRETS=file:$PWD; mkdir kafka postgres
            echo -n 'new-of-proxy old-of-proxy' >kafka/proxy-1; echo -n one-of-operator >kafka/operator
            echo -n 'new-of-owner old-of-owner' >postgres/owner
            BILLING_KAFKA=10.0.0.2:9092; BILLING_PARTITIONS=5
            settings=(); kafka_settings proxy-1; kafka_settings operator; printf '%s\n' "${settings[@]}"
            echo "the server: $(password kafka/proxy-1) $(password kafka/operator)"
            postgres_connection owner 10.0.0.1:5432
            """)).Succeeded();

        Assert.Contains(
            "Billing:Kafka:Properties:sasl.password\nnew-of-proxy\nBilling:Kafka:FormerPassword\nold-of-proxy\n",
            result.Output, StringComparison.Ordinal);
        Assert.Contains(
            "Billing:Kafka:Properties:sasl.password\none-of-operator\nthe server: new-of-proxy one-of-operator\n",
            result.Output, StringComparison.Ordinal);
        Assert.EndsWith("Password=new-of-owner" + Verified, result.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_service_that_sends_events_is_given_its_receivers_their_secrets_and_the_first_database()
    {
        var result = (await RunAsync("""
            . "$BILLING_BOOTSTRAP/tiers/webhooks.sh"
            BILLING_SECRETS=file:$PWD; BILLING_ADDRESS=10.0.0.9
            mkdir postgres webhooks; echo -n secret-of-webhooks >postgres/webhooks
            echo -n whsec_b2Zfc2hvcF9hbmRfb25seV9vZl9pdCE= >webhooks/shop
            echo -n 'whsec_bmV3X29mX290aGVyX29uZV9vbmx5X18= whsec_b2xkX29mX290aGVyX29uZV9vbmx5X18=' >webhooks/other
            BILLING_POSTGRES='billing=10.0.0.1:5432,10.0.1.1:5432 two=10.0.1.2:5432'
            BILLING_WEBHOOKS='Receivers:shop:Url=https://shop.example/events?a=b'
            BILLING_WEBHOOKS+=' Receivers:other:Url=https://other.example'
            BILLING_WEBHOOKS+=' Receivers:shop:Events=PAYMENT_ACCEPTED,PAYMENT_DECLINED AllowedNetworks=10.1.0.0/16'
            webhook_settings
            put_file() { cat; }; install() { :; }
            put_settings webhooks billing
            """)).Succeeded();

        using var json = System.Text.Json.JsonDocument.Parse(result.Output);
        Assert.Equal(
            new Dictionary<string, string>
            {
                ["Urls"] = "http://10.0.0.9:5001",
                ["Billing:Webhooks:ConnectionString"] =
                    "Host=10.0.0.1:5432,10.0.1.1:5432;Database=billing;Username=billing_webhooks;"
                    + $"Password=secret-of-webhooks{Verified};Target Session Attributes=primary",
                ["Billing:Webhooks:Receivers:shop:Url"] = "https://shop.example/events?a=b",
                ["Billing:Webhooks:Receivers:shop:Secret"] = "whsec_b2Zfc2hvcF9hbmRfb25seV9vZl9pdCE=",
                ["Billing:Webhooks:Receivers:other:Url"] = "https://other.example",
                ["Billing:Webhooks:Receivers:other:Secret"] =
                    "whsec_bmV3X29mX290aGVyX29uZV9vbmx5X18= whsec_b2xkX29mX290aGVyX29uZV9vbmx5X18=",
                ["Billing:Webhooks:Receivers:shop:Events"] = "PAYMENT_ACCEPTED,PAYMENT_DECLINED",
                ["Billing:Webhooks:AllowedNetworks"] = "10.1.0.0/16",
            },
            json.RootElement.EnumerateObject()
                .ToDictionary(setting => setting.Name, setting => setting.Value.GetString()!));
    }

    [Theory]
    [InlineData("BILLING_POSTGRES=a'b")]
    [InlineData("BILLING_POSTGRES")]
    [InlineData("PATH=/tmp")]
    public async Task A_variable_that_would_break_the_machines_settings_is_rejected(string variable) =>
        AssertRefused(
            Environment.IsPrivilegedProcess ? "must be BILLING_NAME=VALUE" : "configure.sh needs root",
            await RunAsync($"bash \"$BILLING_BOOTSTRAP/configure.sh\" BILLING_ZONE=a \"{variable}\""));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_archive_is_installed_only_if_its_checksum_matches(bool isChanged)
    {
        var result = await RunAsync($$"""
            BILLING_BOOTSTRAP=$PWD; BILLING_RELEASE=file://$PWD/release; programs=$PWD/programs
            mkdir -p release programs content/billing-one-1.0.0 && echo of-it >content/billing-one-1.0.0/program
            tar -czf release/billing-one-1.0.0.tar.gz -C content billing-one-1.0.0
            (cd release && sha256sum ./*.tar.gz | sed 's|\./||') >SHA256SUMS
            {{(isChanged ? "echo more >>release/billing-one-1.0.0.tar.gz" : "")}}
            install_archive one billing-one-1.0.0.tar.gz
            echo "$changed $(cat programs/one/program) $(readlink programs/one | sed "s|$PWD||")"
            changed=0; install_archive one billing-one-1.0.0.tar.gz; echo "$changed"
            """);

        if (isChanged)
        {
            AssertRefused("billing-one-1.0.0.tar.gz does not match its checksum in SHA256SUMS", result);
            Assert.Empty(Directory.EnumerateFileSystemEntries(Path.Combine(_folder.FullName, "programs")));
        }
        else
        {
            Assert.Equal("1 of-it /programs/billing-one-1.0.0\n0\n", result.Succeeded().Output);
        }
    }

    [Fact]
    public async Task The_first_three_brokers_are_controllers_and_later_ones_are_not()
    {
        const string Nodes =
            "BILLING_KAFKA_NODES=1@10.0.0.1,2@10.0.1.1,3@10.0.2.1,4@10.0.0.2; BILLING_ZONE=a; "
            + "BILLING_SECRETS=file:$PWD; mkdir -p kafka; echo -n secret-of-admin >kafka/admin; . "
            + "\"$BILLING_BOOTSTRAP/tiers/kafka.sh\"; ";

        var first = (await RunAsync(Nodes + "BILLING_ADDRESS=10.0.0.1; kafka_properties")).Succeeded().Output
            .Split('\n');
        var fourth = (await RunAsync(Nodes + "BILLING_ADDRESS=10.0.0.2; kafka_properties")).Succeeded().Output
            .Split('\n');

        Assert.Contains("process.roles=broker,controller", first);
        Assert.Contains("listeners=CLIENT://10.0.0.1:9092,BROKER://10.0.0.1:9094,CONTROLLER://10.0.0.1:9093", first);
        Assert.Contains("process.roles=broker", fourth);
        Assert.Contains("node.id=4", fourth);
        Assert.Contains("listeners=CLIENT://10.0.0.2:9092,BROKER://10.0.0.2:9094", fourth);
        Assert.All([first, fourth], lines =>
            Assert.Contains("controller.quorum.voters=1@10.0.0.1:9093,2@10.0.1.1:9093,3@10.0.2.1:9093", lines));
    }

    [Fact]
    public async Task Brokers_encrypt_every_connection_and_check_each_others_certificates_but_in_containers()
    {
        var files = (await RunAsync("""
            . "$BILLING_BOOTSTRAP/tiers/kafka.sh"
            BILLING_KAFKA_NODES=1@10.0.0.1 BILLING_ZONE=a BILLING_ADDRESS=10.0.0.1 BILLING_SECRETS=file:$PWD
            mkdir kafka; echo -n secret-of-admin >kafka/admin
            kafka_properties; echo =====; kafka_admin_properties; echo =====
            kafka_protocol=SASL_PLAINTEXT; kafka_properties
            """)).Succeeded().Output.Split("=====\n");

        const string Trusted =
            "ssl.truststore.type=PEM\nssl.truststore.location=/etc/billing/tls/brokers-ca.pem\n";
        Assert.Contains(
            "listener.security.protocol.map=CLIENT:SASL_SSL,BROKER:SASL_SSL,CONTROLLER:SASL_SSL\n", files[0],
            StringComparison.Ordinal);
        Assert.Contains(
            "ssl.keystore.type=PEM\nssl.keystore.location=/etc/billing/tls/kafka.pem\n", files[0],
            StringComparison.Ordinal);
        Assert.All(files[..2], file => Assert.Contains(Trusted, file, StringComparison.Ordinal));
        Assert.All(
            files[..2], file => Assert.DoesNotContain("identification.algorithm", file, StringComparison.Ordinal));
        Assert.Contains("security.protocol=SASL_SSL\n", files[1], StringComparison.Ordinal);
        Assert.Contains(
            "=CLIENT:SASL_PLAINTEXT,BROKER:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT\n", files[2],
            StringComparison.Ordinal);
        Assert.DoesNotContain("\nssl.", files[2], StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("s3://billing-backup", "billing-backup", "/")]
    [InlineData("s3://billing-backup/of/one", "billing-backup", "/of/one")]
    [InlineData("s3://billing-backup BILLING_DATABASE=two", "billing-backup", "/two")]
    [InlineData("s3://billing-backup/of/one BILLING_DATABASE=two", "billing-backup", "/of/one/two")]
    public async Task Backups_go_to_a_bucket_of_the_machines_region(string place, string bucket, string path)
    {
        var settings = (await RunAsync($$"""
            . "$BILLING_BOOTSTRAP/tiers/postgres.sh"
            need_packages() { :; }
            aws() { [[ $* == 'configure get region' ]] && echo eu-west-1; }
            BILLING_SECRETS=file:$PWD; mkdir postgres; echo -n password-of-backups >postgres/backup
            BILLING_BACKUP={{place}} backup_settings
            """)).Succeeded().Output.Split('\n');

        foreach (var setting in (string[])
        [
            "repo1-type=s3", $"repo1-s3-bucket={bucket}", $"repo1-path={path}", "repo1-s3-region=eu-west-1",
            "repo1-s3-endpoint=s3.eu-west-1.amazonaws.com", "repo1-s3-key-type=auto",
            "repo1-cipher-type=aes-256-cbc", "repo1-cipher-pass=password-of-backups",
        ])
        {
            Assert.Contains(setting, settings);
        }
    }

    [Fact]
    public async Task Another_place_for_backups_is_rejected() => AssertRefused(
        "BILLING_BACKUP=backup: must be s3://BUCKET or a folder",
        await RunAsync(". \"$BILLING_BOOTSTRAP/tiers/postgres.sh\"; BILLING_BACKUP=backup backup_place"));

    [Fact]
    public async Task Brokers_change_to_a_new_password_in_three_installations()
    {
        var result = (await RunAsync("""
            . "$BILLING_BOOTSTRAP/tiers/kafka.sh"
            BILLING_KAFKA_NODES=1@10.0.0.1 BILLING_ZONE=a BILLING_ADDRESS=10.0.0.1
            BILLING_SECRETS=file:$PWD kafka_settings_file=$PWD/server.properties
            secret_is() { mkdir -p kafka; echo -n "$1" >kafka/admin; }
            install_again() {
              is_broker_login "$(secret kafka/admin)" && known=known || known=unknown
              kafka_properties >new; mv new server.properties
              login=$(grep -E '^listener.name.broker.plain' server.properties |
                grep -oE '(username|user_[^=]*|password)="[^"]*"')
              echo "$known: $(sed -E 's/broker-[0-9a-f]{12}/broker/' <<<"$login" | paste -sd ' ')"
            }
            secret_is password-one; install_again; install_again
            secret_is password-two; install_again; install_again; install_again
            """)).Succeeded();

        Assert.Equal(
            [
                """known: username="broker" password="password-one" user_broker="password-one" """,
                """known: username="broker" password="password-one" user_broker="password-one" """,
                """unknown: username="broker" password="password-one" user_broker="password-one" """
                    + """user_broker="password-two" """,
                """unknown: username="broker" password="password-two" user_broker="password-two" """
                    + """user_broker="password-one" """,
                """known: username="broker" password="password-two" user_broker="password-two" """,
            ],
            result.Output.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(line => line + " "));
    }

    [Fact]
    public async Task A_broker_does_not_take_a_secret_that_cannot_be_read_for_an_empty_one() => AssertRefused(
        "the secret kafka/admin in", await RunAsync("""
            . "$BILLING_BOOTSTRAP/tiers/kafka.sh"
            BILLING_KAFKA_NODES=1@10.0.0.1 BILLING_ZONE=a BILLING_ADDRESS=10.0.0.1 BILLING_SECRETS=file:$PWD
            mkdir kafka; echo -n short >kafka/admin
            kafka_properties
            """));

    [Fact]
    public async Task A_broker_that_is_not_among_the_nodes_is_rejected() => AssertRefused(
        "BILLING_KAFKA_NODES=1@10.0.0.1 does not name this machine, 10.0.0.9",
        await RunAsync(
            ". \"$BILLING_BOOTSTRAP/tiers/kafka.sh\"; BILLING_KAFKA_NODES=1@10.0.0.1; BILLING_ADDRESS=10.0.0.9; "
            + "kafka_properties"));

    private static void AssertRefused(string message, ToolResult result)
    {
        Assert.NotEqual(0, result.ExitCode);
        Assert.Contains("billing: ", result.Errors, StringComparison.Ordinal);
        Assert.Contains(message, result.Errors, StringComparison.Ordinal);
    }

    private Task<ToolResult> RunAsync(string script)
    {
        var bootstrap = Path.Combine(Repository.Root, "deploy/bootstrap");
        return ExternalTool.RunAsync(
            ExternalTool.Need("bash"),
            [
                "-c",
                $"set -euo pipefail; shopt -s inherit_errexit; BILLING_BOOTSTRAP='{bootstrap}'; . "
                    + $"\"$BILLING_BOOTSTRAP/common.sh\"\n{script}",
            ],
            _folder.FullName);
    }
}
