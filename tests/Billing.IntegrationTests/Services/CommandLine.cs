using System.Text.Json;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Services;

/// <summary>The program behind <c>./billing</c>, run as a separate process.</summary>
public sealed class CommandLine : IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Fact]
    public async Task A_run_on_the_embedded_transport_prints_the_table_and_a_clean_audit_and_writes_the_report()
    {
        var report = Path.Combine(_folder.FullName, "report.json");

        var (exitCode, output) = await RunAsync(
            "run", "--kafka", "embedded", "--clients", "2", "--requests", "40", "--balances",
            "4", "--warm-up", "10", "--report", report);

        Assert.Equal(0, exitCode);
        Assert.Contains("Transport embedded", output, StringComparison.Ordinal);
        Assert.Contains("Payments", output, StringComparison.Ordinal);
        Assert.Contains("acknowledged 100, recorded 100, wrong 0, lost 0, doubled 0", output, StringComparison.Ordinal);
        using var json = JsonDocument.Parse(await File.ReadAllTextAsync(report));
        var root = json.RootElement;
        Assert.Equal("embedded", root.GetProperty("transport").GetString());
        Assert.Equal(80, root.GetProperty("payments").GetProperty("count").GetInt32());
        Assert.Equal(8, root.GetProperty("balances").GetProperty("ok").GetInt32());
        Assert.Equal(0, root.GetProperty("audit").GetProperty("lost").GetInt32());
        Assert.False(root.TryGetProperty("follow_ups", out _));
        foreach (var name in new[] { "shortest_s", "longest_s", "average_s", "p50_s", "p99_s" })
        {
            Assert.True(root.GetProperty("payments").GetProperty(name).GetDouble() > 0, name);
        }
        foreach (var name in new[] { "clients", "proxies", "backends", "jitter", "total_s", "requests_per_s", "run" })
        {
            Assert.True(root.TryGetProperty(name, out _), name);
        }
        Assert.StartsWith(
            "./billing run ", root.GetProperty("run").GetProperty("command").GetString(), StringComparison.Ordinal);
        Assert.True(File.Exists(Path.ChangeExtension(report, ".html")));
        var page = Path.Combine(_folder.FullName, "again.html");
        Assert.Equal(0, (await RunAsync("report", report, "--out", page)).ExitCode);
        Assert.Contains(
            "The billing prototype's experiment", await File.ReadAllTextAsync(page), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_run_with_a_mix_reports_what_was_done_with_payments_and_its_audit_is_clean()
    {
        var report = Path.Combine(_folder.FullName, "report.json");

        var (exitCode, output) = await RunAsync(
            "run", "--kafka", "embedded", "--clients", "2", "--requests", "100", "--balances", "0",
            "--warm-up", "10", "--mix", "50", "--report", report);

        Assert.Equal(0, exitCode);
        Assert.Contains(
            "wrong 0, lost 0, doubled 0, holes 0, unbalanced 0, misjudged 0, unexplained 0",
            output, StringComparison.Ordinal);
        using var json = JsonDocument.Parse(await File.ReadAllTextAsync(report));
        var followUps = json.RootElement.GetProperty("follow_ups");
        Assert.Equal(
            200, json.RootElement.GetProperty("payments").GetProperty("count").GetInt32() + Count("authorisations"));
        foreach (var kind in new[] { "authorisations", "captures", "voids", "refunds", "look_ups" })
        {
            Assert.True(Count(kind) > 0, kind);
            Assert.Contains(
                char.ToUpperInvariant(kind[0]) + kind[1..].Replace('_', '-'), output, StringComparison.Ordinal);
        }

        int Count(string kind) => followUps.GetProperty(kind).GetProperty("count").GetInt32();
    }

    [Theory]
    [InlineData("grpc")]
    [InlineData("rpcx")]
    public async Task A_run_by_direct_calls_needs_no_Kafka_and_its_audit_is_clean(string protocol)
    {
        var report = Path.Combine(_folder.FullName, "report.json");

        var (exitCode, output) = await RunAsync(
            "run", "--transport", "direct", "--protocol", protocol, "--proxies", "1", "--payment-backends", "1",
            "--clients", "2", "--requests", "40", "--balances", "4", "--warm-up", "10", "--report", report);

        Assert.Equal(0, exitCode);
        Assert.Contains(
            $"Transport direct, 2 clients, 1 proxies, 1 backends over {protocol}", output, StringComparison.Ordinal);
        Assert.Contains("acknowledged 100, recorded 100, wrong 0, lost 0, doubled 0", output, StringComparison.Ordinal);
        using var json = JsonDocument.Parse(await File.ReadAllTextAsync(report));
        Assert.Equal("direct", json.RootElement.GetProperty("transport").GetString());
        Assert.Equal(protocol, json.RootElement.GetProperty("protocol").GetString());
    }

    [Theory]
    [InlineData("--nonsense", "run", "--nonsense")]
    [InlineData("there is no file 'missing.csv'", "audit", "missing.csv")]
    [InlineData("Name journals to audit, an export with --export, or an account with --who.", "audit")]
    [InlineData("--who: 'acct-42' is no account", "audit", "--who", "acct-42", "--postgres", "Host=127.0.0.1")]
    [InlineData(
        "--from must be a day such as 2026-11-01; it is '2026-11-31'", "export", "--from",
        "2026-11-31", "--to", "2026-12-01", "--out", "missing")]
    [InlineData(
        "--to must be a day such as 2026-11-01; it is '9999-12-31'", "export", "--from",
        "2026-11-01", "--to", "9999-12-31", "--out", "missing")]
    [InlineData(
        "--from 2026-11-02 is after --to 2026-11-01", "export", "--from",
        "2026-11-02", "--to", "2026-11-01", "--out", "missing")]
    [InlineData(
        "--format must be csv or jsonl; it is xml", "export", "--from", "2026-11-01", "--to",
        "2026-11-01", "--out", "missing", "--format", "xml")]
    [InlineData("'--out' is required", "export", "--from", "2026-11-01", "--to", "2026-11-01")]
    [InlineData(
        "--out: '/dev/null/missing' cannot be written", "export", "--from", "2026-11-01",
        "--to", "2026-11-01", "--out", "/dev/null/missing")]
    public async Task Invalid_input_is_named_in_the_error(string named, params string[] arguments)
    {
        var (exitCode, output) = await RunAsync(arguments);

        Assert.Equal(1, exitCode);
        Assert.Contains(named, output, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_run_against_an_unreachable_PostgreSQL_names_its_address()
    {
        var (exitCode, output) = await RunAsync(
            "run", "--kafka", "embedded", "--postgres", "Host=127.0.0.1;Port=1;Username=nobody;Database=none");

        Assert.Equal(1, exitCode);
        Assert.Contains("PostgreSQL at 127.0.0.1:1", output, StringComparison.Ordinal);
    }

    private Task<(int ExitCode, string Output)> RunAsync(params string[] arguments) => CommandRun.ToEndAsync(
        _folder, arguments, new Dictionary<string, string?> { ["Billing__EventStore__StartTimeout"] = "00:00:01" });
}
