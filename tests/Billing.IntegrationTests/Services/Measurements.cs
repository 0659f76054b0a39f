using System.Text.Json;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Services;

/// <summary>The measuring commands, run as separate processes with loads that are too small for meaningful results.</summary>
public sealed class Measurements : IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();

    private string Results => Path.Combine(_folder.FullName, "results");

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Fact]
    public async Task A_static_sweep_measures_one_configuration_with_every_protocol()
    {
        var (exitCode, output) = await RunAsync(
            "sweep", "static", "--kafka", "embedded", "--connections", "2", "--in-flight", "4", "--amount", "60", "--during", "60", "--workers", "2", "--warm-up", "1s", "--out", Results);

        // Payments of the warm-up are audited, but not measured.
        Assert.Equal(0, exitCode);
        Assert.Contains("gRPC bulk streams", output, StringComparison.Ordinal);
        using var result = Result();
        Assert.Equal("sweep", result.RootElement.GetProperty("kind").GetString());
        var protocols = result.RootElement.GetProperty("protocols").EnumerateArray().ToList();
        Assert.Equal(["Unary", "Stream", "Rest"], protocols.Select(p => p.GetProperty("protocol").GetString()));
        foreach (var cell in protocols.Select(p => Assert.Single(p.GetProperty("cells").EnumerateArray())))
        {
            // 60 from each of the two workers.
            Assert.Equal(120, cell.GetProperty("answers").GetInt32());
            Assert.Empty(cell.GetProperty("errors").EnumerateObject());
            Assert.True(cell.GetProperty("latency").GetProperty("p99_ms").GetDouble() > 0);
            Assert.True(cell.GetProperty("cpu_s").TryGetProperty("postgres", out _));
        }
    }

    [Fact]
    public async Task A_dynamic_sweep_measures_the_best_configurations_again_alternately()
    {
        var (exitCode, _) = await RunAsync(
            "sweep", "dynamic", "--kafka", "embedded", "--protocols", "unary", "--connections", "1", "--in-flight", "2", "--amount", "20", "--during", "60", "--warm-up", "0", "--out", Results);

        Assert.Equal(0, exitCode);
        using var result = Result();
        var protocol = result.RootElement.GetProperty("protocols")[0];
        Assert.Equal(2, protocol.GetProperty("cells").GetArrayLength());
        var finals = protocol.GetProperty("finals").EnumerateArray().ToList();
        Assert.Equal([1, 2], finals.Select(f => f.GetProperty("in_flight").GetInt32()).Order());
        Assert.All(finals, f => Assert.Equal([20, 20, 20], f.GetProperty("rounds").EnumerateArray().Select(r => r.GetProperty("answers").GetInt32())));
        Assert.Contains(protocol.GetProperty("best_place").GetProperty("in_flight").GetInt32(), finals.Select(f => f.GetProperty("in_flight").GetInt32()));
    }

    [Fact]
    public async Task An_interrupted_sweep_writes_the_results_so_far()
    {
        await using var process = Start(
            "sweep", "dynamic", "--kafka", "embedded", "--protocols", "unary", "--during", "1", "--warm-up", "0", "--out", Results);
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        await process.WaitForOutputAsync(line => line.StartsWith("Unary, 1 connections x 2", StringComparison.Ordinal), Patience, patience.Token);

        process.Send(Signal.Interrupt);
        await process.WaitForExitAsync(patience.Token);

        Assert.Equal(130, process.ExitCode);
        using var result = Result();
        Assert.False(result.RootElement.GetProperty("run").GetProperty("complete").GetBoolean());
        var cells = result.RootElement.GetProperty("protocols")[0].GetProperty("cells").EnumerateArray().ToList();
        Assert.True(cells.Count >= 2);
        Assert.True(File.Exists(Path.Combine(Results, "report.html")));
    }

    [Fact]
    public async Task The_comparison_with_the_echo_measures_both_sides_and_its_page_can_be_generated_again()
    {
        Assert.SkipWhen(
            KafkaPrograms.FindHome() is null, "Kafka is not available; the comparison of the echo with the whole path needs it.");
        var (exitCode, _) = await RunAsync(
            "compare", "ceiling", "--burst", "50", "--in-flight", "6", "--rounds", "1", "--during", "1", "--warm-up", "0", "--size", "1", "--out", Results);
        var page = Path.Combine(Results, "again.html");
        var again = await RunAsync("report", Path.Combine(Results, "result.json"), "--out", page);

        Assert.Equal((0, 0), (exitCode, again.ExitCode));
        using var result = Result();
        var cases = result.RootElement.GetProperty("cases").EnumerateArray().ToList();
        Assert.Equal(["6 in flight", "3 x 50 at once"], cases.Select(c => c.GetProperty("shape").GetString()));
        Assert.All(cases, c => Assert.True(c.GetProperty("echo").GetProperty("per_second").GetProperty("median").GetDouble() > 0));
        Assert.True(File.Exists(page));
    }

    [Fact]
    public async Task The_comparison_of_remote_procedure_calls_measures_every_configuration()
    {
        var (exitCode, _) = await RunAsync(
            "compare", "rpc", "--threads", "2,5", "--requests", "3", "--runs", "2", "--warm-up", "1", "--out", Results);

        Assert.Equal(0, exitCode);
        using var result = Result();
        var cells = result.RootElement.GetProperty("cells").EnumerateArray().ToList();
        Assert.Equal([2, 5], cells.Select(c => c.GetProperty("threads").GetInt32()));
        Assert.All(cells, c => Assert.Equal(3, c.GetProperty("sides").GetArrayLength()));
        // Variants of one configuration: more connections, answers on the thread pool, .NET runtime settings, and all of these.
        var variants = result.RootElement.GetProperty("variants").EnumerateArray().ToList();
        Assert.Equal(4, variants.Count);
        Assert.All(variants, v => Assert.Equal(5, v.GetProperty("cell").GetProperty("threads").GetInt32()));
        Assert.All(
            cells.Concat(variants.Select(v => v.GetProperty("cell"))).SelectMany(c => c.GetProperty("sides").EnumerateArray()),
            side => Assert.True(side.GetProperty("server_cpu_s").GetDouble() > 0));
    }

    [Theory]
    [InlineData("there is no", "report", "missing.json")]
    [InlineData("'.' is a folder", "report", ".")]
    public async Task Invalid_input_is_named_in_the_error(string named, params string[] arguments)
    {
        var (exitCode, output) = await RunAsync(arguments);

        Assert.Equal(1, exitCode);
        Assert.Contains(named, output, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("   at ", output, StringComparison.Ordinal);
    }

    private JsonDocument Result() => JsonDocument.Parse(File.ReadAllText(Path.Combine(Results, "result.json")));

    private ChildProcess Start(params string[] arguments) => CommandRun.Start(_folder, arguments);

    private Task<(int ExitCode, string Output)> RunAsync(params string[] arguments) => CommandRun.ToEndAsync(_folder, arguments);
}
