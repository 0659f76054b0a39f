using System.Net;
using System.Net.Sockets;
using System.Reflection;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Services;

/// <summary>The error of a service that cannot start: one line that names the setting.</summary>
public sealed class StartupErrors
{
    private const string Postgres = "Host=127.0.0.1;Port=1;Username=billing;Database=billing";

    [Fact]
    public async Task A_proxy_without_brokers_names_the_setting() => await FailsAsync(
        "Billing.Proxy", "Billing:Kafka:BootstrapServers is missing", 2);

    [Fact]
    public Task A_proxy_with_a_malformed_broker_names_the_setting_and_the_value() => FailsHereAsync(
        "Billing.Proxy", "Billing:Kafka:BootstrapServers: 'nowhere' is not of the form host:port", 2,
        ("Billing__Kafka__BootstrapServers", "nowhere"));

    [Fact]
    public Task A_proxy_that_reaches_no_broker_names_the_setting_and_the_address() => FailsHereAsync(
        "Billing.Proxy", "Billing:Kafka:BootstrapServers: no broker answers at '127.0.0.1:1'", 1,
        ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"), ("Billing__Kafka__StartTimeout", "00:00:01"));

    [Fact]
    public Task A_setting_out_of_range_is_named() => FailsHereAsync(
        "Billing.Proxy", "Billing:Proxy:InFlightMax must be between", 2,
        ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"), ("Billing__Proxy__InFlightMax", "0"));

    [Fact]
    public Task A_setting_that_is_not_a_number_is_named() => FailsHereAsync(
        "Billing.Proxy", "Billing:Proxy:InFlightMax", 2,
        ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"), ("Billing__Proxy__InFlightMax", "many"));

    [Fact]
    public Task A_misspelt_setting_is_named_with_those_of_its_section() => FailsHereAsync(
        "Billing.Proxy", "Billing:Proxy:InFlightMaximum is not a setting; Billing:Proxy has InFlightMax, ", 2,
        ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"), ("Billing__Proxy__InFlightMaximum", "100"));

    [Theory]
    [InlineData("Billing.Proxy", "Kafka:ReplicationFactor", "Proxy:InFlightMax", "Limits:AnonymousCallsPerAddress")]
    [InlineData("Billing.Backends", "Kafka:ReplicationFactor", "Backend:InFlightMax", "EventStore:StartTimeout")]
    [InlineData("Billing.Webhooks", "Kafka:ReplicationFactor", "Webhooks:ConcurrencyMax", "Telemetry:TraceRatio")]
    public Task Each_invalid_section_is_named(string program, params string[] settings) => FailsHereAsync(
        program, settings, 2, [.. settings.Select(setting => ($"Billing:{setting}", "-7"))]);

    [Fact]
    public Task A_misspelt_section_is_named_with_the_others() => FailsHereAsync(
        "Billing.Backends", "Billing:Backends is not a setting; Billing has Admin, AdminClient, Auth, Backend, ", 2,
        ("Billing__Backends__Role", "Payments"), ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"));

    [Fact]
    public Task A_backend_without_a_role_names_the_setting() => FailsHereAsync(
        "Billing.Backends", "Billing:Backend:Role is missing", 2,
        ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"), ("Billing__EventStore__ConnectionString", Postgres));

    [Fact]
    public Task A_backend_with_an_unknown_role_names_the_setting() => FailsHereAsync(
        "Billing.Backends", "Billing:Backend:Role", 2,
        ("Billing__Backend__Role", "Cook"), ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"));

    [Fact]
    public async Task A_backend_that_reaches_no_PostgreSQL_names_the_setting_and_the_address() => await FailsAsync(
        "Billing.Backends", "Billing:EventStore:ConnectionString: PostgreSQL at 127.0.0.1:1, database 'billing'", 1,
        ("Billing__Backend__Role", "Payments"), ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"),
        ("Billing__EventStore__ConnectionString", Postgres), ("Billing__EventStore__StartTimeout", "00:00:01"));

    [Fact]
    public Task A_backend_that_asks_for_a_standby_names_the_setting() => FailsHereAsync(
        "Billing.Backends",
        "Billing:EventStore:ConnectionString: Target Session Attributes must be primary; it is standby", 2,
        ("Billing__Backend__Role", "Payments"), ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"),
        (
            "Billing__EventStore__ConnectionString",
            "Host=one,two;Database=billing;Username=billing;Target Session Attributes=standby"));

    [Fact]
    public Task A_former_password_of_the_database_without_a_present_one_is_named() => FailsHereAsync(
        "Billing.Backends",
        "Billing:EventStore:ConnectionString has no Password, which Billing:EventStore:FormerPassword would be the "
            + "former one of",
        2, ("Billing__Backend__Role", "Payments"), ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"),
        ("Billing__EventStore__ConnectionString", "Host=one;Database=billing;Username=billing"),
        ("Billing__EventStore__FormerPassword", "of-before"));

    [Fact]
    public Task A_former_password_of_the_brokers_without_a_present_one_is_named() => FailsHereAsync(
        "Billing.Proxy",
        "Billing:Kafka:FormerPassword is set, but not both of Billing:Kafka:Properties:sasl.username and", 2,
        ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"), ("Billing__Kafka__FormerPassword", "of-before"));

    [Fact]
    public Task A_service_of_webhooks_without_receivers_names_the_setting() => FailsHereAsync(
        "Billing.Webhooks", "Billing:Webhooks:Receivers is missing", 2,
        ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"), ("Billing__Webhooks__ConnectionString", Postgres));

    [Fact]
    public Task A_misspelt_setting_of_a_receiver_is_named_with_those_that_there_are() => FailsHereAsync(
        "Billing.Webhooks",
        "Billing:Webhooks:Receivers:shop:Uri is not a setting; Billing:Webhooks:Receivers:shop has Url, Secret, ", 2,
        ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"), ("Billing__Webhooks__ConnectionString", Postgres),
        ("Billing__Webhooks__Receivers__shop__Uri", "https://shop.example/"));

    /// <summary>Every rule between settings, broken by each of its settings.</summary>
    public static TheoryData<string, string, string> BrokenRules() => new(
        from broken in DeclaredRules.Broken()
        let home = broken.Type.Assembly.GetName().Name!
        select (
            home == "Billing.Messaging" ? "Billing.Proxy" : home, broken.Setting + "=" + broken.Value,
            broken.Rule.Reason));

    [Theory]
    [MemberData(nameof(BrokenRules))]
    public Task A_broken_rule_is_stated_with_both_settings_and_the_reason(
        string program, string setting, string reason) => FailsHereAsync(
        program, reason + ".", 2,
        ("Billing__Backend__Role", "Payments"), ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"),
        ("Billing__EventStore__ConnectionString", Postgres), ("Billing__Webhooks__ConnectionString", Postgres),
        (setting.Split('=')[0].Replace(":", "__", StringComparison.Ordinal), setting.Split('=')[1]));

    [Fact]
    public Task A_broken_rule_names_both_settings_their_values_and_the_reason() => FailsHereAsync(
        "Billing.Backends",
        "Billing:Backend:BatchMax (100) must be at most Billing:Backend:InFlightMax (10): a batch could never fill.", 2,
        ("Billing__Backend__Role", "Payments"), ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"),
        ("Billing__EventStore__ConnectionString", Postgres), ("Billing__Backend__BatchMax", "100"),
        ("Billing__Backend__InFlightMax", "10"));

    [Fact]
    public Task A_proxy_with_direct_calls_and_no_backends_names_the_setting() => FailsHereAsync(
        "Billing.Rpc proxy", "Billing:Direct:Backends is missing", 2);

    [Fact]
    public Task A_proxy_with_an_unknown_protocol_names_the_setting_and_the_value() => FailsHereAsync(
        "Billing.Rpc proxy", "Billing:Direct:Protocol must be grpc or rpcx; it is 'soap'", 2,
        ("Billing__Direct__Backends", "127.0.0.1:1"), ("Billing__Direct__Protocol", "soap"));

    [Fact]
    public Task A_backend_with_direct_calls_and_no_address_names_the_setting() => FailsHereAsync(
        "Billing.Rpc backend", "Billing:Direct:Listen is missing", 2,
        ("Billing__EventStore__ConnectionString", Postgres));

    [Fact]
    public Task An_invalid_REST_address_is_named() => FailsHereAsync(
        "Billing.Rpc proxy", "Billing:Rest:Url: 'nowhere' is not of the form http://host:port", 2,
        ("Billing__Direct__Backends", "127.0.0.1:1"), ("Billing__Rest__Url", "nowhere"));

    [Fact]
    public Task An_unprotected_proxy_on_a_public_address_names_the_address() => FailsHereAsync(
        "Billing.Rpc proxy", "Urls: 'http://0.0.0.0:0' may be reached from other machines", 2,
        ("Billing__Direct__Backends", "127.0.0.1:1"), ("urls", "http://0.0.0.0:0"));

    [Fact]
    public Task An_unprotected_backend_on_a_public_address_names_the_address() => FailsHereAsync(
        "Billing.Rpc backend", "Billing:Direct:Listen: '0.0.0.0:6000' may be reached from other machines", 2,
        ("Billing__Direct__Listen", "0.0.0.0:6000"), ("Billing__EventStore__ConnectionString", Postgres));

    [Fact]
    public Task An_invalid_certificate_file_is_named() => FailsHereAsync(
        "Billing.Rpc proxy", "Billing:Tls:CertificateFile ('/etc/hostname') and its key cannot be used", 1,
        ("Billing__Direct__Backends", "127.0.0.1:1"), ("Billing__Tls__CertificateFile", "/etc/hostname"));

    [Fact]
    public Task An_invalid_key_set_file_is_named() => FailsHereAsync(
        "Billing.Rpc proxy", "Billing:Auth:JwksFile ('/etc/hostname') cannot be used", 1,
        ("Billing__Direct__Backends", "127.0.0.1:1"), ("Billing__Auth__JwksFile", "/etc/hostname"),
        ("Billing__Auth__Issuer", "i"), ("Billing__Auth__Audience", "a"));

    [Fact]
    public Task A_missing_folder_of_secrets_is_named() => FailsHereAsync(
        "Billing.Proxy", "Billing:SecretsFolder: there is no folder '/nowhere'",
        1, ("Billing__SecretsFolder", "/nowhere"));

    [Fact]
    public async Task A_setting_in_a_file_of_the_secrets_folder_overrides_the_environment()
    {
        var folder = Directory.CreateTempSubdirectory("billing-secrets-");
        await File.WriteAllTextAsync(Path.Combine(folder.FullName, "Billing__Kafka__BootstrapServers"), "pigeon");

        await FailsAsync(
            "Billing.Proxy", "'pigeon'", 2, ("Billing__SecretsFolder", folder.FullName),
            ("Billing__Kafka__BootstrapServers", "127.0.0.1:1"));

        folder.Delete(recursive: true);
    }

    [Fact]
    public Task An_address_that_the_machine_does_not_have_is_named() => FailsHereAsync(
        "Billing.Rpc proxy", "Urls (http://192.0.2.1:5099): Cannot assign requested address", 1,
        ("Billing__Direct__Backends", "127.0.0.1:1"), ("Billing__Insecure", "true"), ("urls", "http://192.0.2.1:5099"));

    [Fact]
    public async Task A_port_in_use_is_named()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        var port = ((IPEndPoint)taken.LocalEndpoint).Port;
        await using var folder = StackFolder.Create();
        using var ports = new FreePorts();
        await using var postgres = await LocalPostgres.StartNewAsync(folder, ports);

        await FailsAsync(
            "Billing.Embedded", $"Urls: Failed to bind to address http://127.0.0.1:{port}", 1,
            ("ASPNETCORE_URLS", $"http://127.0.0.1:{port}"), ("Billing__Backend__Role", "Payments"),
            ("Billing__EventStore__ConnectionString", postgres.ConnectionString));
    }

    /// <summary>Calls the program's entry point in this process.</summary>
    private static Task FailsHereAsync(
        string program, string message, int exitCode, params (string Name, string Value)[] settings) =>
        FailsHereAsync(program, [message], exitCode, settings);

    private static async Task FailsHereAsync(
        string program, string[] messages, int exitCode, (string Name, string Value)[] settings)
    {
        var main = Assembly.Load(program.Split(' ')[0]).EntryPoint!;
        string[] arguments =
        [
            .. program.Split(' ')[1..], "--urls=http://127.0.0.1:0",
            .. settings.Select(s => $"--{s.Name.Replace("__", ":", StringComparison.Ordinal)}={s.Value}"),
        ];
        var error = ErrorOutput.Capture();

        var ended = await Task.Run(() => (int)main.Invoke(null, [arguments])!);

        Assert.All(messages, message => Assert.Contains(message, error.ToString(), StringComparison.Ordinal));
        Assert.DoesNotContain("   at ", error.ToString(), StringComparison.Ordinal);
        Assert.Equal(exitCode, ended);
    }

    private static async Task FailsAsync(
        string program, string message, int exitCode, params (string Name, string Value)[] settings)
    {
        await using var folder = StackFolder.Create();
        var environment = new Dictionary<string, string?> { ["ASPNETCORE_URLS"] = "http://127.0.0.1:0" };
        foreach (var (name, value) in settings)
        {
            environment[name] = value;
        }
        await using var process = ChildProcess.Start(
            new ChildProcessStart(program, "dotnet", [DotnetProgram.FileOf(program)], folder.LogFile(program))
            {
                Environment = environment,
            });
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);

        await process.WaitForExitAsync(patience.Token);

        var output = string.Join('\n', process.LastLogLines(50));
        Assert.Contains(message, output, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", output, StringComparison.Ordinal);
        Assert.Equal(exitCode, process.ExitCode);
    }
}
