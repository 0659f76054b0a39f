using BenchmarkDotNet.Attributes;
using Billing.LocalStack.Processes;
using Billing.Measuring;
using Billing.Measuring.Comparing.Rpc;
using Billing.V1;

namespace Billing.Benchmarks;

/// <summary>Complete calls over the loopback interface, on one connection, to an echo server in this process.</summary>
public class RpcCalls : IDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly FreePorts _ports = new();
    private readonly MakePaymentRequest _request = Payments.Request();
    private EchoClient? _client;
    private Task _serving = Task.CompletedTask;

    [Params(Protocols.Rpcx, Protocols.Grpc)]
    public string Protocol { get; set; } = "";

    [Params(1, 100)]
    public int InFlight { get; set; }

    [GlobalSetup] // BenchmarkDotNet would not await a task.
    public void Setup() => SetUpAsync().GetAwaiter().GetResult();

    [Benchmark]
    public Task CallAsync() => InFlight == 1
        ? _client!.CallAsync(0, _request)
        : Task.WhenAll(Enumerable.Range(0, InFlight).Select(caller => _client!.CallAsync(caller, _request)));

    [GlobalCleanup]
    public void CleanUp() => CleanUpAsync().GetAwaiter().GetResult();

    public void Dispose()
    {
        _stop.Dispose();
        _ports.Dispose();
        GC.SuppressFinalize(this);
    }

    private async Task<bool> TryCallAsync(EchoClient client)
    {
        try
        {
            return await client.CallAsync(0, _request);
        }
        catch (Exception e) when (EchoClient.IsFailure(e))
        {
            return false;
        }
    }

    private async Task SetUpAsync()
    {
        var port = _ports.Take();
        _serving = EchoServer.RunAsync(Protocol, port, EchoServer.InlineDispatch, _stop.Token);
        _client = EchoClient.Create(Protocol, port, connections: 1);
        while (!await TryCallAsync(_client))
        {
            // The server is not up yet.
            await Task.Yield();
        }
    }

    private async Task CleanUpAsync()
    {
        await _client!.DisposeAsync();
        await _stop.CancelAsync();
        await _serving;
    }
}
