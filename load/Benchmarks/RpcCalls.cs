using BenchmarkDotNet.Attributes;
using Billing.Driver.Channels;
using Billing.LocalStack.Processes;
using Billing.Measuring.Experiments.Echo;
using Billing.V1;

namespace Billing.Benchmarks;

/// <summary>Complete calls over the loopback interface, on one connection, to an echo server in this process.</summary>
public class RpcCalls : IDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly FreePorts _ports = new();
    private readonly MakePaymentRequest _request = Payments.Request();
    private IRequestChannel? _client;
    private Task _serving = Task.CompletedTask;

    [Params(Protocols.Rpcx, Protocols.Grpc)]
    public string Protocol { get; set; } = "";

    [Params(1, 100)]
    public int InFlight { get; set; }

    [GlobalSetup] // BenchmarkDotNet would not await a task.
    public void Setup() => SetUpAsync().GetAwaiter().GetResult();

    [Benchmark]
    public Task CallAsync() => InFlight == 1
        ? _client!.PayAsync(_request)
        : Task.WhenAll(Enumerable.Range(0, InFlight).Select(_ => _client!.PayAsync(_request)));

    [GlobalCleanup]
    public void CleanUp() => CleanUpAsync().GetAwaiter().GetResult();

    public void Dispose()
    {
        _stop.Dispose();
        _ports.Dispose();
        GC.SuppressFinalize(this);
    }

    private async Task SetUpAsync()
    {
        var port = _ports.Take();
        _serving = EchoServer.RunAsync(Protocol, port, EchoServer.InlineDispatch, _stop.Token);
        _client = EchoChannel.Create(Protocol, port);
        while ((await _client.PayAsync(_request)).Message is null)
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
