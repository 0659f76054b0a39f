using Billing.Chaos.Network;
using Billing.Client;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.V1;

namespace Billing.ChaosTests;

/// <summary>Proxies and clients that do nothing for a while, as on a machine that is too small for its load, and proxies whose host
/// is gone. Both are silent, but the kernel of the former still acknowledges what is sent to it.</summary>
[Collection(InOneProcess.Name)]
public sealed class SilentPeers(OneProcessStack stack) : StackFailures(stack), IAsyncLifetime
{
    private const int Payments = 200;

    // Longer than a host may be silent.
    private static readonly TimeSpan Stopped = TimeSpan.FromSeconds(20);

    private readonly string _prefix = StackFixture.NewAccount();
    private ServiceProcess? _proxy;

    // A stopped process also takes its time over the event store.
    public async ValueTask InitializeAsync() => _proxy = await Stack.AddAsync(
        ServiceRole.Embedded, 9, CancellationToken.None, new Dictionary<string, string> { ["Billing__Backend__StoreUnavailableMax"] = "00:01:00" });

    public async ValueTask DisposeAsync()
    {
        if (_proxy is not null)
        {
            await Stack.RemoveAsync(_proxy);
        }
    }

    [Fact]
    public async Task A_proxy_that_is_stopped_during_a_burst_answers_every_call_on_the_connections_it_had()
    {
        using var client = Client(_proxy!.Address);
        var paying = Burst(client);
        await Task.WhenAny(paying);

        // Those above may all have been answered before.
        await StopForAWhileAsync(_proxy.Process, () => paying.AddRange(Burst(client)));

        await AllArePaidOnceAsync(paying);
        Assert.Equal(0, client.Retried);
    }

    [Fact]
    public async Task A_client_that_is_stopped_during_its_calls_gets_every_answer_on_the_connections_it_had()
    {
        await using var folder = StackFolder.Create();
        await using var client = ChildProcess.Start(new ChildProcessStart(
            "client", DotnetProgram.Launcher,
            [
                DotnetProgram.FileOf("Billing.Driver"), "--proxies", _proxy!.Address, "--requests", "1000", "--rate", "200",
            ],
            folder.LogFile("client")));
        await client.WaitForOutputAsync(line => line.StartsWith("done ", StringComparison.Ordinal) && line != "done 0", Conditions.Patience, CancellationToken.None);

        await StopForAWhileAsync(client, () => Assert.False(client.HasExited));

        using var patience = new CancellationTokenSource(Conditions.Patience, TimeProvider.System);
        await client.WaitForExitAsync(patience.Token);
        var log = string.Join("\n", client.LastLogLines(10));
        Assert.Contains("payments: 1000 requests", log, StringComparison.Ordinal);
        Assert.Contains("errors 0\n", log, StringComparison.Ordinal);
        Assert.EndsWith("calls sent again 0", log, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Calls_in_flight_at_a_host_that_vanishes_are_answered_by_another_proxy_and_paid_once()
    {
        await using var host = new TcpRelay(new Uri(_proxy!.Address).Port, RelayBehaviour.None);
        using var client = Client(host.Address, Stack.ProxyAddresses[0]);
        var paying = Burst(client);
        await Task.WhenAny(paying);

        host.Vanish();
        // Those above may all have been answered before.
        paying.AddRange(Burst(client));

        await AllArePaidOnceAsync(paying);
        Assert.NotEqual(0, client.Retried);
    }

    private static BillingClient Client(params string[] proxies)
    {
        var options = new BillingClientOptions { Deadline = TimeSpan.FromSeconds(60) };
        Array.ForEach(proxies, options.Proxies.Add);
        return new BillingClient(options);
    }

    private static async Task StopForAWhileAsync(ChildProcess process, Action meanwhile)
    {
        process.Pause();
        try
        {
            meanwhile();
            await Task.Delay(Stopped);
        }
        finally
        {
            process.Resume();
        }
    }

    private List<Task<MakePaymentResponse>> Burst(BillingClient client) =>
        [.. Enumerable.Range(0, Payments).Select(i => client.MakePaymentAsync(StackFixture.Payment($"{_prefix}-{i}")))];

    private async Task AllArePaidOnceAsync(List<Task<MakePaymentResponse>> paying)
    {
        Assert.All(await Task.WhenAll(paying), answer => Assert.Equal(PaymentOutcome.Accepted, answer.Outcome));
        Assert.Equal(paying.Count, await Fixture.CountEventsAsync(_prefix + "-%"));
    }
}
