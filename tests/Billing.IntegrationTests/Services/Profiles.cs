using System.Text.Json;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.Measuring.Processes;
using Billing.Measuring.Profiling;

namespace Billing.IntegrationTests.Services;

/// <summary>A payment profile by the command, on its own stack, interrupted after its first case.</summary>
public sealed class Profiles : IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Fact]
    public async Task An_interrupted_profile_has_all_details_of_its_first_case()
    {
        Assert.SkipWhen(KafkaPrograms.FindHome() is null, "Kafka is not available");
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        var results = Path.Combine(_folder.FullName, "results");
        await using var process = CommandRun.Start(
            _folder,
            ["profile", "--in-flight", "200,1", "--proxies", "1", "--payment-backends", "1", "--balance-backends", "1", "--during", "2s", "--warm-up", "1s", "--out", results]);
        await process.WaitForOutputAsync(line => line.StartsWith("200 in flight:", StringComparison.Ordinal), Patience, patience.Token);

        process.Send(Signal.Interrupt);
        await process.WaitForExitAsync(patience.Token);

        Assert.Equal(130, process.ExitCode);
        var report = JsonSerializer.Deserialize(await File.ReadAllBytesAsync(Path.Combine(results, "result.json"), patience.Token), ProfileJson.Default.ProfileResult)!;
        Assert.False(report.Run.Complete);
        Assert.True(File.Exists(Path.Combine(results, "report.html")));
        var measured = report.Cases[0];
        Assert.Equal((200, 0), (measured.InFlight, measured.Failed));
        AssertHasAllDetails(measured);
    }

    // How much a payment costs depends on the machine, and so does how many payments share a request or a transaction.
    private static void AssertHasAllDetails(ProfileCase measured)
    {
        Assert.True(measured.PerSecond > 0 && measured.P50Ms > 0 && measured.P99Ms >= measured.P50Ms);
        Assert.Contains(measured.Steps, step => step is { Name: "client → proxy", Count: > 0 });
        Assert.Contains(measured.Steps, step => step is { Name: "store, commit", P50Ms: > 0 });
        Assert.Equal(["balances", "client", "kafka", "payments", "postgres", "proxy"], measured.Programs.Select(p => p.Role).Order(StringComparer.Ordinal));
        Assert.All(measured.Programs, program =>
        {
            Assert.True(program.UserUs + program.KernelUs > 0);
            Assert.True(program.VoluntarySwitches > 0);
            Assert.True(program.MemoryMb > 1);
            Assert.NotEmpty(program.Threads);
            Assert.Equal(program.Role is "client" or "kafka" or "postgres", program.Runtime is null);
        });
        Assert.All(measured.Programs.Select(p => p.Runtime).OfType<RuntimeUse>(), runtime => Assert.True(runtime.AllocatedBytes > 0));
        Assert.All(["Produce", "FetchConsumer"], request => Assert.True(measured.Broker.Requests[request] > 0));
        Assert.True(measured.Broker.Topics["billing.events"] is { Records: > 0, RecordsInBatch: > 0 });
        Assert.True(measured.Database.Writes > 0);
        Assert.True(measured.Database.LogBytes > 0);
        if (StatementTimes.ServerSettings().Count > 0)
        {
            Assert.Contains(measured.Database.Statements, s => s.Text.Contains("append_events", StringComparison.Ordinal) && s.Calls > 0 && s.Us > 0);
        }
    }
}
