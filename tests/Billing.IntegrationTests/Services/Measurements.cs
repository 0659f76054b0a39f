using System.Text.Json;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Services;

/// <summary>The measuring commands, run as separate processes with loads that are too small for
/// meaningful results.</summary>
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
            "sweep", "static", "--kafka", "embedded", "--connections", "2", "--in-flight", "4", "--amount", "60",
            "--during", "60", "--workers", "2", "--warm-up", "1s", "--out", Results);

        // Payments of the warm-up are audited, but not measured.
        Assert.Equal(0, exitCode);
        Assert.Contains("gRPC bulk streams", output, StringComparison.Ordinal);
        using var result = Result();
        Assert.Equal("sweep", result.RootElement.GetProperty("kind").GetString());
        Assert.Equal(3, result.RootElement.GetProperty("sections").GetArrayLength());
        // As programs that hold several checkouts against each other read it.
        var protocols = result.RootElement.GetProperty("protocols").EnumerateArray().ToList();
        Assert.Equal(["Unary", "Stream", "Rest"], protocols.Select(p => p.GetProperty("protocol").GetString()));
        Assert.All(protocols.Select(p => Assert.Single(p.GetProperty("cells").EnumerateArray())), cell =>
        {
            Assert.Equal(120, cell.GetProperty("answers").GetInt32());
            Assert.True(cell.GetProperty("per_second").GetDouble() > 0);
            Assert.True(cell.GetProperty("latency").GetProperty("p99_ms").GetDouble() > 0);
        });
        foreach (var measured in Rounds(result).Select(rounds => Assert.Single(rounds)))
        {
            // 60 from each of the two workers.
            Assert.Equal(120, Figure(measured, "answered"));
            Assert.Empty(measured.GetProperty("errors").EnumerateObject());
            Assert.True(Figure(measured, "p99_ms") > 0);
            Assert.True(Figure(measured, "cpu_us_postgres") >= 0);
        }
    }

    [Fact]
    public async Task A_dynamic_sweep_measures_the_best_configurations_again_alternately()
    {
        var (exitCode, _) = await RunAsync(
            "sweep", "dynamic", "--kafka", "embedded", "--protocols", "unary", "--connections", "1", "--in-flight", "2",
            "--amount", "20", "--during", "60", "--warm-up", "0", "--out", Results);

        Assert.Equal(0, exitCode);
        using var result = Result();
        var sections = result.RootElement.GetProperty("sections");
        Assert.Equal(["1 x 1", "1 x 2"], Rows(sections[0]).Select(row => row.GetProperty("case").GetString()));
        Assert.Equal(["1 x 1", "1 x 2"], Rows(sections[1]).Select(row => row.GetProperty("case").GetString()).Order());
        Assert.All(
            Rounds(result).Skip(2),
            rounds => Assert.Equal([20, 20, 20, 20, 20], rounds.Select(m => Figure(m, "answered"))));
        Assert.Single(Rows(sections[1]), row => row.GetProperty("is_best").GetBoolean());
    }

    [Fact]
    public async Task An_interrupted_sweep_writes_the_results_so_far()
    {
        await using var process = Start(
            "sweep", "dynamic", "--kafka", "embedded", "--protocols", "unary",
            "--during", "1", "--warm-up", "0", "--out", Results);
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        await process.WaitForOutputAsync(
            line => line.StartsWith("gRPC calls, 1 connections x 2", StringComparison.Ordinal),
            Patience, patience.Token);

        process.Send(Signal.Interrupt);
        await process.WaitForExitAsync(patience.Token);

        Assert.Equal(130, process.ExitCode);
        using var result = Result();
        Assert.False(result.RootElement.GetProperty("run").GetProperty("complete").GetBoolean());
        Assert.True(Rows(result.RootElement.GetProperty("sections")[0]).Count() >= 2);
        Assert.True(File.Exists(Path.Combine(Results, "report.html")));
    }

    [Fact]
    public async Task The_comparison_with_the_echo_measures_both_sides_and_its_page_can_be_generated_again()
    {
        Assert.SkipWhen(
            KafkaPrograms.FindHome() is null,
            "Kafka is not available; the comparison of the echo with the whole path needs it.");
        var (exitCode, _) = await RunAsync(
            "compare", "ceiling", "--burst", "50", "--in-flight", "6", "--rounds", "1", "--during", "1",
            "--warm-up", "0", "--size", "1", "--out", Results);
        var page = Path.Combine(Results, "again.html");
        var again = await RunAsync("report", Path.Combine(Results, "result.json"), "--out", page);

        Assert.Equal((0, 0), (exitCode, again.ExitCode));
        using var result = Result();
        var rows = result.RootElement.GetProperty("sections").EnumerateArray().SelectMany(Rows);
        Assert.Equal(
            ["6 in flight, echo", "6 in flight, whole path", "3 x 50 at once, echo", "3 x 50 at once, whole path"],
            rows.Select(row => $"{row.GetProperty("case")}, {row.GetProperty("side")}"));
        Assert.All(Rounds(result), rounds => Assert.True(Figure(Assert.Single(rounds), "per_second") > 0));
        Assert.True(File.Exists(page));
    }

    [Fact]
    public async Task The_comparison_of_remote_procedure_calls_measures_every_configuration()
    {
        var (exitCode, _) = await RunAsync(
            "compare", "rpc", "--threads", "2,5", "--requests", "3", "--runs", "2", "--warm-up", "1", "--out", Results);

        Assert.Equal(0, exitCode);
        using var result = Result();
        // The usual conditions; then more connections, answers on the thread pool, .NET's runtime settings,
        // and all of these.
        var sections = result.RootElement.GetProperty("sections").EnumerateArray().ToList();
        Assert.Equal([6, 3, 3, 3, 3], sections.Select(section => Rows(section).Count()));
        Assert.Equal(
            ["2 x 3", "5 x 3"], Rows(sections[0]).Select(row => row.GetProperty("case").GetString()).Distinct());
        Assert.All(Rounds(result), rounds => Assert.True(Figure(Assert.Single(rounds), "cpu_us_server") > 0));
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

    private static IEnumerable<JsonElement> Rows(JsonElement section) => section.GetProperty("rows").EnumerateArray();

    private static IEnumerable<List<JsonElement>> Rounds(JsonDocument result) =>
        result.RootElement.GetProperty("sections").EnumerateArray()
            .SelectMany(Rows).Select(row => row.GetProperty("rounds").EnumerateArray().ToList());

    private static double Figure(JsonElement measured, string id) =>
        measured.GetProperty("figures").GetProperty(id).GetDouble();

    private JsonDocument Result() => JsonDocument.Parse(File.ReadAllText(Path.Combine(Results, "result.json")));

    private ChildProcess Start(params string[] arguments) => CommandRun.Start(_folder, arguments);

    private Task<(int ExitCode, string Output)> RunAsync(params string[] arguments) =>
        CommandRun.ToEndAsync(_folder, arguments);
}
