using System.Text.RegularExpressions;
using Billing.Cli.Monitoring;
using Billing.LocalStack.Credentials;
using Billing.LocalStack.Processes;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.IntegrationTests.Services;

/// <summary>The commands <c>up</c>, <c>status</c> and <c>down</c>, run as separate processes.</summary>
public sealed partial class BackgroundStacks : IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public async ValueTask DisposeAsync()
    {
        await RunAsync("down");
        await _folder.DisposeAsync();
    }

    [Fact]
    public async Task Without_a_running_stack_the_commands_report_that_none_is_up()
    {
        var status = await RunAsync("status");
        var logs = await RunAsync("logs");
        var down = await RunAsync("down");

        Assert.Equal(
            (1, true), (logs.ExitCode, logs.Output.Contains("No stack is running.", StringComparison.Ordinal)));
        Assert.Equal(
            (1, true), (status.ExitCode, status.Output.Contains("No stack is running.", StringComparison.Ordinal)));
        Assert.Equal(
            (0, true), (down.ExitCode, down.Output.Contains("No stack is running.", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task A_stack_serves_calls_has_a_status_cannot_be_started_twice_and_is_removed_completely()
    {
        using var ports = new FreePorts();
        var (port, restPort) = (ports.Take(), ports.Take());

        var up = await UpAsync(
            port, "--rest-port", restPort.ToString(System.Globalization.CultureInfo.InvariantCulture));
        using var http = new HttpClient();
        var ready = await http.GetAsync(new Uri($"http://127.0.0.1:{restPort}/health/ready"));
        var paid = await PayAsync(port);
        var status = await RunAsync("status");
        var again = await UpAsync(ports.Take());
        var processes = Processes(status.Output);
        var data = DataFolder(status.Output);
        Assert.NotEmpty(processes);
        Assert.All(processes, process => Assert.True(process.IsRunning));
        Assert.True(Directory.Exists(data));
        var log = await RunAsync("logs", "postgres");
        var unknown = await RunAsync("logs", "proxy-9");
        var down = await RunAsync("down");
        var after = await RunAsync("status");

        Assert.Equal(0, up.ExitCode);
        Assert.Contains($"http://127.0.0.1:{port}", up.Output, StringComparison.Ordinal);
        Assert.True(ready.IsSuccessStatusCode);
        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        Assert.Equal(0, status.ExitCode);
        Assert.DoesNotContain("stopped", status.Output, StringComparison.Ordinal);
        Assert.Equal(1, again.ExitCode);
        Assert.Contains("A stack is already running", again.Output, StringComparison.Ordinal);
        Assert.Equal(0, log.ExitCode);
        Assert.Contains("ready to accept connections", log.Output, StringComparison.Ordinal);
        Assert.Equal(1, unknown.ExitCode);
        Assert.Matches("There is no log of 'proxy-9'; there are embedded-1, .*postgres", unknown.Output);
        Assert.Equal(0, down.ExitCode);
        Assert.All(processes, process => Assert.False(process.IsRunning));
        Assert.False(Directory.Exists(data));
        Assert.Equal(1, after.ExitCode);
    }

    [Fact]
    public async Task A_port_in_use_is_reported_before_anything_is_started()
    {
        using var server = new System.Net.Sockets.TcpListener(System.Net.IPAddress.Loopback, 0);
        server.Start();
        var port = ((System.Net.IPEndPoint)server.LocalEndpoint).Port
            .ToString(System.Globalization.CultureInfo.InvariantCulture);

        var up = await RunAsync("up", "--kafka", "embedded", "--rest-port", port);

        Assert.Equal(1, up.ExitCode);
        Assert.Contains($"Port {port} on 127.0.0.1 is in use", up.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("Starting", up.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_service_that_ends_is_restarted_and_a_dead_keeper_is_reported_and_the_rest_is_stopped_by_down()
    {
        using var ports = new FreePorts();
        await UpAsync(ports.Take());
        var status = await RunAsync("status");
        var before = Processes(status.Output);
        // The order is: the keeper, the service, PostgreSQL.
        await KillAsync(before[1]);

        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        List<ProcessIdentity> after;
        do
        {
            after = Processes((await RunAsync("status")).Output);
        }
        while (!after.TrueForAll(process => process.IsRunning) && !patience.IsCancellationRequested);
        await KillAsync(after[0]);
        var degraded = await RunAsync("status");
        var down = await RunAsync("down");

        Assert.Equal([before[0], before[2]], new[] { after[0], after[2] });
        Assert.NotEqual(before[1], after[1]);
        Assert.Equal(1, degraded.ExitCode);
        Assert.Contains("stopped", degraded.Output, StringComparison.Ordinal);
        Assert.Equal(0, down.ExitCode);
        Assert.All(after, process => Assert.False(process.IsRunning));
        Assert.False(Directory.Exists(DataFolder(status.Output)));
    }

    [Fact]
    public async Task A_stack_with_TLS_requires_a_token_and_deletes_its_credentials_when_it_is_stopped()
    {
        using var ports = new FreePorts();
        var port = ports.Take();
        await UpAsync(port, "--tls");
        var credentials = StackCredentials.Find(Path.Combine(State, "credentials"))!;
        var token = await RunAsync("token", "--scope", "payments:write", "--account", "visa/acct-1");
        using var http = new HttpClient(credentials.Handler());
        using var channel = GrpcChannel.ForAddress(
            $"https://localhost:{port}", new GrpcChannelOptions { HttpClient = http });
        var client = new BillingService.BillingServiceClient(channel);
        var headers = new Metadata { { "authorization", "Bearer " + token.Output.Trim() } };

        var paid = await client.MakePaymentAsync(StackFixture.Payment("acct-1"), headers);
        var nobody = await Assert.ThrowsAsync<RpcException>(
            () => client.MakePaymentAsync(StackFixture.Payment("acct-1")).ResponseAsync);
        var others = await Assert.ThrowsAsync<RpcException>(
            () => client.MakePaymentAsync(StackFixture.Payment("other"), headers).ResponseAsync);
        var doctor = await RunAsync("doctor");
        await RunAsync("down");
        var without = await RunAsync("token", "--scope", "payments:write", "--account", "visa/acct-1");

        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        Assert.Equal((StatusCode.Unauthenticated, StatusCode.PermissionDenied), (nobody.StatusCode, others.StatusCode));
        Assert.Equal(0, doctor.ExitCode);
        Assert.Contains(") has no standby", doctor.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("has no TLS", doctor.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("does not know", doctor.Output, StringComparison.Ordinal);
        Assert.False(Directory.Exists(Path.Combine(State, "credentials")));
        Assert.Equal(
            (1, true), (without.ExitCode, without.Output.Contains("./billing up --tls", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task A_stack_with_monitoring_has_a_Prometheus_that_scrapes_its_services_and_ends_with_it()
    {
        var folder = ((string?[])[Environment.GetEnvironmentVariable(LocalPrometheus.FolderVariable), "/usr/bin"])
            .FirstOrDefault(f => !string.IsNullOrEmpty(f) && File.Exists(Path.Combine(f, LocalPrometheus.Name)));
        Assert.SkipWhen(
            folder is null, $"prometheus is neither in the folder of {LocalPrometheus.FolderVariable} nor in /usr/bin");

        var up = await RunAsync("up", "--kafka", "embedded", "--monitoring");
        var status = await RunAsync("status");
        using var http = new HttpClient { BaseAddress = new Uri(PrometheusRow().Match(status.Output).Groups[1].Value) };
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        string read;
        do
        {
            read = await http.GetStringAsync(
                new Uri("/api/v1/query?query=billing_proxy_places_limit", UriKind.Relative), patience.Token);
        }
        while (!read.Contains("50000", StringComparison.Ordinal));
        var rules = await http.GetStringAsync(new Uri("/api/v1/rules", UriKind.Relative));
        var processes = Processes(status.Output);
        await RunAsync("down");

        Assert.Equal(0, up.ExitCode);
        Assert.Contains("\"tier\":\"embedded\"", read, StringComparison.Ordinal);
        Assert.Contains("BillingServiceDown", rules, StringComparison.Ordinal);
        Assert.All(processes, process => Assert.False(process.IsRunning));
    }

    private string State => Path.Combine(_folder.FullName, "state");

    private static async Task KillAsync(ProcessIdentity process)
    {
        using var victim = System.Diagnostics.Process.GetProcessById(process.Id);
        victim.Kill();
        await victim.WaitForExitAsync();
    }

    private static async Task<MakePaymentResponse> PayAsync(int port)
    {
        using var channel = GrpcChannel.ForAddress($"http://127.0.0.1:{port}");
        return await new BillingService.BillingServiceClient(channel).MakePaymentAsync(StackFixture.Payment());
    }

    private static List<ProcessIdentity> Processes(string table) =>
    [
        .. ProcessRow().Matches(table)
            .Select(row => ProcessIdentity.Of(
                int.Parse(row.Groups[1].ValueSpan, System.Globalization.CultureInfo.InvariantCulture))),
    ];

    private static string DataFolder(string output) => Path.GetDirectoryName(LogsLine().Match(output).Groups[1].Value)!;

    private Task<(int ExitCode, string Output)> UpAsync(int port, params string[] further) =>
        RunAsync(
            [
                "up", "--kafka", "embedded", "--port",
                port.ToString(System.Globalization.CultureInfo.InvariantCulture), .. further,
            ]);

    private Task<(int ExitCode, string Output)> RunAsync(params string[] arguments) => CommandRun.ToEndAsync(
        _folder, arguments, new Dictionary<string, string?> { ["BILLING_STATE"] = State });

    [GeneratedRegex(@"│ +(\d+) +│ *(?:running|stopped) *│")]
    private static partial Regex ProcessRow();

    [GeneratedRegex(@"│ +prometheus +│.*│ +(http://\S+) +│")]
    private static partial Regex PrometheusRow();

    [GeneratedRegex(@"Logs +(\S+)")]
    private static partial Regex LogsLine();
}
