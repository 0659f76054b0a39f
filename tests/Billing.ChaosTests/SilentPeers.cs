using Billing.LocalStack;
using Billing.LocalStack.Processes;

namespace Billing.ChaosTests;

/// <summary>Proxies and clients that do nothing for a while, as on a machine that is too small for its load.
/// They are silent, but the kernel still acknowledges what is sent to them.</summary>
[Collection(InOnePatientProcess.Name)]
public sealed class SilentPeers(PatientStack stack) : Bursts(stack)
{
    // Longer than a host may be silent.
    private static readonly TimeSpan Stopped = TimeSpan.FromSeconds(20);

    private ServiceProcess Proxy => Stack.Of(ServiceRole.Embedded).Single();

    [Fact]
    public async Task A_proxy_that_is_stopped_during_a_burst_answers_every_call_on_the_connections_it_had()
    {
        using var client = Client(Proxy.Address);
        var paying = Burst(client);
        await Task.WhenAny(paying);

        // Those above may all have been answered before.
        await StopForAWhileAsync(Proxy.Process, () => paying.AddRange(Burst(client)));

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
                DotnetProgram.FileOf("Billing.Driver"), "--proxies",
                Proxy.Address, "--requests", "1000", "--rate", "200",
            ],
            folder.LogFile("client")));
        await client.WaitForOutputAsync(
            line => line.StartsWith("done ", StringComparison.Ordinal) && line != "done 0",
            Conditions.Patience, CancellationToken.None);

        await StopForAWhileAsync(client, () => Assert.False(client.HasExited));

        using var patience = new CancellationTokenSource(Conditions.Patience, TimeProvider.System);
        await client.WaitForExitAsync(patience.Token);
        var log = string.Join("\n", client.LastLogLines(10));
        Assert.Contains("payments: 1000 requests", log, StringComparison.Ordinal);
        Assert.Contains("errors 0\n", log, StringComparison.Ordinal);
        Assert.EndsWith("calls sent again 0", log, StringComparison.Ordinal);
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
}
