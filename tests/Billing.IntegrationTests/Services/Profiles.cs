using System.Text.Json;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.Measuring;
using Billing.Measuring.Profiling;

namespace Billing.IntegrationTests.Services;

/// <summary>A profile of a payment as the command makes it, on a stack of its own, interrupted after its first part.</summary>
[AnyPackages("what a command makes of figures")]
public sealed class Profiles : IAsyncLifetime
{
    // Between 0.15 and 0.20 is measured from 2,000 to 11,000 payments per second: with 200 in flight, what comes while one request is
    // under way goes into the next, on a fast machine as on a slow one. A batch of one record takes more than 2.
    private const double MostRequests = 0.3;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(3);

    private readonly StackFolder _folder = StackFolder.Create();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Fact]
    public async Task A_payment_costs_no_more_requests_than_it_did_and_an_interrupted_profile_says_so_and_where_the_rest_goes()
    {
        Assert.SkipWhen(KafkaPrograms.FindHome() is null, "no Kafka is at hand");
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
        Assert.InRange(measured.Broker.Requests["Produce"] + measured.Broker.Requests["FetchConsumer"], 0.001, MostRequests);
        SaysWhereItGoes(measured);
    }

    private static void SaysWhereItGoes(ProfileCase measured)
    {
        Assert.True(measured.PerSecond > 0 && measured.P50Ms > 0 && measured.P99Ms >= measured.P50Ms);
        Assert.Contains(measured.Steps, step => step is { Name: "client → proxy", Count: > 10 });
        Assert.Contains(measured.Steps, step => step is { Name: "store, commit", P50Ms: > 0 });
        Assert.Equal(["balances", "client", "kafka", "payments", "postgres", "proxy"], measured.Programs.Select(p => p.Role).Order(StringComparer.Ordinal));
        Assert.All(measured.Programs, program =>
        {
            Assert.True(program.UserUs + program.KernelUs > 0);
            Assert.True(program.VoluntarySwitches > 0);
            Assert.True(program.MemoryMb > 1);
            Assert.NotEmpty(program.Threads);
            Assert.Equal(program.Role is "kafka" or "postgres", program.Runtime is null);
        });
        Assert.All(measured.Programs.Select(p => p.Runtime).OfType<RuntimeUse>(), runtime => Assert.True(runtime.AllocatedBytes > 500));
        Assert.Equal(1, measured.Broker.Topics["billing.events"].Records, 1);
        Assert.True(measured.Broker.Topics["billing.events"].RecordsInBatch > 1);
        Assert.InRange(measured.Database.Writes, 0.0001, 0.5);
        Assert.True(measured.Database.LogBytes > 100);
        if (StatementTimes.ServerSettings().Count > 0)
        {
            Assert.Contains(measured.Database.Statements, s => s.Text.Contains("append_events", StringComparison.Ordinal) && s.Calls > 0 && s.Us > 0);
        }
    }
}
