using System.Net.Sockets;
using System.Text.Json;
using Billing.LocalStack.Processes;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>The command <c>./billing load</c>, run as a separate process.</summary>
public sealed class LoadScenarios(EmbeddedStack stack) : IClassFixture<EmbeddedStack>, IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();

    private string Proxies => string.Join(',', stack.Stack.ProxyAddresses);

    private string Reports => Path.Combine(_folder.FullName, "reports");

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Fact]
    public async Task A_run_at_a_rate_is_measured_and_audited_and_meets_its_thresholds()
    {
        var (exitCode, output) = await RunAsync(
            "payments", "--kafka", "embedded", "--rate", "40", "--during", "2s", "--warm-up", "1s", "--accounts", "20",
            "--max-error-percent", "0", "--max-p99-ms", "60000", "--min-rps", "1");

        Assert.Equal(0, exitCode);
        Assert.Contains("wrong 0, lost 0, doubled 0", output, StringComparison.Ordinal);
        Assert.Equal(
            ["payments.csv", "payments.html", "payments.md", "payments.txt", "summary.json"],
            Directory.EnumerateFiles(Reports).Select(Path.GetFileName).Order(StringComparer.Ordinal));
        using var summary = Summary();
        var root = summary.RootElement;
        Assert.Equal("open", root.GetProperty("model").GetString());
        Assert.Equal("sent", root.GetProperty("latency_from").GetString());
        Assert.Contains("count from the sending of each call", output, StringComparison.Ordinal);
        Assert.Equal(80, root.GetProperty("calls").GetProperty("ok").GetInt32());
        Assert.True(root.GetProperty("calls").GetProperty("p99_ms").GetDouble() > 0);
        Assert.Equal(80, root.GetProperty("statuses").GetProperty("accepted").GetInt32());
        // Payments of the warm-up are audited, but not counted.
        Assert.True(root.GetProperty("audit").GetProperty("acknowledged").GetInt32() > 80);
        Assert.Equal(0, root.GetProperty("audit").GetProperty("lost").GetInt32());
        Assert.All(
            root.GetProperty("thresholds").EnumerateArray(), t => Assert.False(t.GetProperty("missed").GetBoolean()));
    }

    [Fact]
    public async Task A_missed_threshold_fails_the_run_and_is_reported_with_its_value()
    {
        var (exitCode, output) = await RunAsync(
            "mixed", "--targets", Proxies, "--copies", "2", "--during", "1s", "--warm-up", "0",
            "--min-rps", "1000000", "--max-error-percent", "0");

        Assert.Equal(1, exitCode);
        Assert.Contains("Missed: --min-rps 1000000, measured ", output, StringComparison.Ordinal);
        Assert.Contains("Met: --max-error-percent 0, measured 0", output, StringComparison.Ordinal);
        using var summary = Summary();
        var calls = summary.RootElement.GetProperty("calls").GetProperty("ok").GetInt32();
        var steps = summary.RootElement.GetProperty("steps");
        var payments = steps.GetProperty("payment").GetProperty("ok").GetInt32();
        Assert.True(payments > 0);
        Assert.Equal(
            calls,
            payments + (steps.TryGetProperty("balance", out var balance) ? balance.GetProperty("ok").GetInt32() : 0));
    }

    [Fact]
    public async Task A_load_on_running_proxies_leaves_them_running()
    {
        var burst = await RunAsync("burst", "--targets", Proxies, "--at-once", "200", "--warm-up", "500ms");
        using var summary = Summary();
        var ramp = await RunAsync(
            "ramp", "--targets", Proxies, "--from", "20", "--to", "60", "--during", "2s", "--warm-up", "0");
        using var ramped = Summary();

        Assert.Equal((0, 0), (burst.ExitCode, ramp.ExitCode));
        Assert.Equal(200, summary.RootElement.GetProperty("calls").GetProperty("ok").GetInt32());
        Assert.False(summary.RootElement.TryGetProperty("audit", out _));
        // One second at 20 calls per second, then 20 intervals of 100 ms with 2 to 6 calls each,
        // rounded from a linear ramp.
        Assert.Equal(20 + 78, ramped.RootElement.GetProperty("calls").GetProperty("ok").GetInt32());
        Assert.All(stack.Stack.Services, s => Assert.False(s.Process.HasExited));
    }

    [Theory]
    [InlineData("refunds", "payment", "refund", "refunded")]
    [InlineData("captures", "authorisation", "capture", "captured")]
    [InlineData("look-ups", "payment", "look-up", "found")]
    public async Task What_is_done_with_a_payment_is_measured_as_a_step_of_its_own(
        string scenario, string first, string second, string status)
    {
        var (exitCode, _) = await RunAsync(
            scenario, "--targets", Proxies, "--copies", "2", "--during", "1s",
            "--warm-up", "0", "--max-error-percent", "0");

        Assert.Equal(0, exitCode);
        using var summary = Summary();
        var steps = summary.RootElement.GetProperty("steps");
        var (made, done) = (
            steps.GetProperty(first).GetProperty("ok").GetInt32(),
            steps.GetProperty(second).GetProperty("ok").GetInt32());
        Assert.InRange(done, 1, made);
        Assert.Equal(summary.RootElement.GetProperty("calls").GetProperty("ok").GetInt32(), made);
        Assert.Equal(done, summary.RootElement.GetProperty("statuses").GetProperty(status).GetInt32());
    }

    [Fact]
    public async Task An_interrupt_ends_the_load_with_its_reports_and_stops_the_stack()
    {
        var loaded = "";
        await using var process = Start("soak", "--kafka", "embedded", "--rate", "20", "--warm-up", "0");
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        await process.WaitForOutputAsync(
            line => (loaded = line).StartsWith("Loading ", StringComparison.Ordinal), Patience, patience.Token);

        process.Send(Signal.Interrupt);
        await process.WaitForExitAsync(patience.Token);

        Assert.Equal(130, process.ExitCode);
        using var summary = Summary();
        Assert.True(summary.RootElement.GetProperty("interrupted").GetBoolean());
        Assert.True(File.Exists(Path.Combine(Reports, "soak.html")));
        var proxy = new Uri(loaded.Split(' ')[1]);
        using var socket = new TcpClient();
        await Assert.ThrowsAsync<SocketException>(
            () => socket.ConnectAsync(proxy.Host, proxy.Port, patience.Token).AsTask());
    }

    [Fact]
    public async Task The_reports_contain_the_measurements_before_an_interrupt()
    {
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        await using var store = NpgsqlDataSource.Create(stack.ConnectionString);
        var before = await CountEventsAsync();
        await using var process = Start(
            "payments", "--targets", Proxies, "--copies", "2", "--during", "1h", "--warm-up", "0");
        await process.WaitUntilAsync(async _ => await CountEventsAsync() > before + 20, Patience, patience.Token);

        process.Send(Signal.Interrupt);
        await process.WaitForExitAsync(patience.Token);

        Assert.Equal(130, process.ExitCode);
        using var summary = Summary();
        Assert.True(summary.RootElement.GetProperty("calls").GetProperty("ok").GetInt32() > 10);

        async Task<long> CountEventsAsync()
        {
            await using var command = store.CreateCommand("select count(*) from billing.mt_events");
            return (long)(await command.ExecuteScalarAsync(patience.Token))!;
        }
    }

    [Fact]
    public async Task A_run_against_an_unreachable_proxy_fails()
    {
        var (exitCode, output) = await RunAsync(
            "balances", "--targets", "http://127.0.0.1:1", "--copies", "1", "--during", "1s", "--warm-up", "0");

        Assert.Equal(1, exitCode);
        Assert.Contains("No call was answered.", output, StringComparison.Ordinal);
        Assert.Contains("failed, and are left out of the latencies", output, StringComparison.Ordinal);
        using var summary = Summary();
        Assert.Contains(
            summary.RootElement.GetProperty("statuses").EnumerateObject(),
            s => s.Name.StartsWith("Unavailable", StringComparison.Ordinal));
    }

    private JsonDocument Summary() => JsonDocument.Parse(File.ReadAllText(Path.Combine(Reports, "summary.json")));

    private ChildProcess Start(params string[] arguments) =>
        CommandRun.Start(_folder, ["load", .. arguments, "--out", Reports]);

    private Task<(int ExitCode, string Output)> RunAsync(params string[] arguments) =>
        CommandRun.ToEndAsync(_folder, ["load", .. arguments, "--out", Reports]);
}
