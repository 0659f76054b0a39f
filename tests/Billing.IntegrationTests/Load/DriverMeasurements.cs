using Billing.Driver;
using Billing.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Billing.IntegrationTests.Load;

/// <summary>The results of the load driver against a server with known behaviour.</summary>
public sealed class DriverMeasurements : IAsyncLifetime
{
    private static readonly TimeSpan Stall = TimeSpan.FromSeconds(1);

    private readonly Gate _gate = new();
    private WebApplication? _server;

    public async ValueTask InitializeAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.WebHost.ConfigureKestrel(k => k.ConfigureEndpointDefaults(e => e.Protocols = HttpProtocols.Http2));
        builder.Services.AddGrpc();
        builder.Services.AddSingleton(_gate);
        _server = builder.Build();
        _server.MapGrpcService<GatedBilling>();
        await _server.StartAsync();
    }

    public ValueTask DisposeAsync() => _server!.DisposeAsync();

    [Theory]
    [InlineData(LoadProtocol.Unary)]
    [InlineData(LoadProtocol.Stream)]
    public async Task A_closed_loop_sends_the_given_number_of_requests_and_counts_every_answer(LoadProtocol protocol)
    {
        await using var driver = new LoadDriver(
            Spec(new LoadShape.Closed(15, 60) { Amount = 400 }) with { Protocol = protocol, Connections = 3 },
            TimeProvider.System);

        var result = await driver.RunAsync(CancellationToken.None);

        Assert.Equal(400, result.Phases[0].Payments.Ok);
        Assert.Equal(400, result.Phases[0].Payments.Latencies.Sum(l => l.Requests));
        Assert.Empty(result.Phases[0].Payments.Errors);
        Assert.Equal(400, _gate.Served);
    }

    [Fact]
    public async Task An_open_loop_measures_the_full_stall_of_a_server_in_many_requests()
    {
        const int Rate = 200;
        await using var driver = new LoadDriver(
            Spec(LoadShape.Open.At(Rate, 4)) with { Connections = 2 }, TimeProvider.System);
        var running = driver.RunAsync(CancellationToken.None);
        await _gate.ServeAsync(Rate / 2);

        await _gate.CloseForAsync(Stall);
        var result = await running;

        // While the gate was closed, a request became due every 5 ms: half of them waited for more than
        // half of the stall.
        var waitedLong = result.Phases[0].Payments.Latencies.Where(l => l.Microseconds >= Stall.TotalMicroseconds / 2)
            .Sum(l => l.Requests);
        Assert.True(waitedLong >= Rate * Stall.TotalSeconds / 2 * 0.9, $"{waitedLong} requests waited long");
        Assert.Equal(Rate * 4, result.Phases[0].Payments.Ok);
    }

    [Fact]
    public async Task A_closed_loop_with_one_request_in_flight_measures_the_same_stall_once()
    {
        await using var driver = new LoadDriver(Spec(new LoadShape.Closed(1, 3600)), TimeProvider.System);
        using var stop = new CancellationTokenSource();
        var running = driver.RunAsync(stop.Token);
        await _gate.ServeAsync(20);

        await _gate.CloseForAsync(Stall);
        // Of the next two, the second is sent when the first has been measured.
        await _gate.ServeAsync(2);
        await stop.CancelAsync();
        var result = await running;

        // The latency of the other requests depends on the machine.
        Assert.Equal(1, _gate.Held);
        Assert.True(result.Phases[0].Payments.Latencies.Max(l => l.Microseconds) >= Stall.TotalMicroseconds * 0.95);
    }

    [Fact]
    public async Task A_driver_that_is_stopped_returns_the_results_so_far()
    {
        await using var driver = new LoadDriver(Spec(new LoadShape.Closed(1, 3600)), TimeProvider.System);
        using var stop = new CancellationTokenSource();
        var running = driver.RunAsync(stop.Token);
        await _gate.ServeAsync(10);

        await stop.CancelAsync();

        Assert.True((await running).Phases[0].Payments.Ok >= 10);
    }

    [Theory]
    [InlineData(LoadProtocol.Sdk)]
    [InlineData(LoadProtocol.Unary)]
    [InlineData(LoadProtocol.Stream)]
    [InlineData(LoadProtocol.Rest)]
    public async Task Calls_to_an_unreachable_server_are_counted_as_failures_by_kind(LoadProtocol protocol)
    {
        var spec = Spec(new LoadShape.Closed(1, 60) { Amount = 20 }) with { Protocol = protocol, RetriesMax = 0 };
        await _server!.StopAsync();
        await using var driver = new LoadDriver(spec, TimeProvider.System);

        var result = await driver.RunAsync(CancellationToken.None);

        Assert.Equal(0, result.Phases[0].Payments.Ok);
        Assert.Equal(20, result.Phases[0].Payments.Errors.Values.Sum());
        Assert.DoesNotContain("", result.Phases[0].Payments.Errors.Keys);
    }

    private LoadSpec Spec(LoadShape shape) => new()
    {
        Shape = shape,
        Protocol = LoadProtocol.Unary,
        Addresses =
        [
            .. _server!.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses,
        ],
    };

    private sealed class Gate
    {
        private readonly Lock _lock = new();
        private readonly List<(int Count, TaskCompletionSource Reached)> _waiting = [];
        private readonly TaskCompletionSource _held = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private TaskCompletionSource? _closed;
        private int _served;

        public int Served => Volatile.Read(ref _served);

        /// <summary>Number of requests that arrived while the gate was closed.</summary>
        public int Held { get; private set; }

        public async Task PassAsync()
        {
            Task? wait;
            lock (_lock)
            {
                wait = _closed?.Task;
                Held += wait is null ? 0 : 1;
            }
            if (wait is not null)
            {
                _held.TrySetResult();
                await wait;
            }
            lock (_lock)
            {
                _served++;
                _waiting.Where(w => w.Count <= _served).ToList().ForEach(w => w.Reached.TrySetResult());
            }
        }

        public Task ServeAsync(int count)
        {
            var reached = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            lock (_lock)
            {
                _waiting.Add((_served + count, reached));
            }
            return reached.Task;
        }

        /// <summary>Closes the gate until a request has been held for the given time.</summary>
        public async Task CloseForAsync(TimeSpan time)
        {
            var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            lock (_lock)
            {
                _closed = closed;
            }
            await _held.Task;
            await Task.Delay(time);
            lock (_lock)
            {
                _closed = null;
            }
            closed.SetResult();
        }
    }

    private sealed class GatedBilling(Gate gate) : BillingService.BillingServiceBase
    {
        public override async Task<MakePaymentResponse> MakePayment(
            MakePaymentRequest request, ServerCallContext context) =>
            await AnswerAsync(request);

        public override async Task MakePayments(
            IAsyncStreamReader<MakePaymentRequest> requestStream,
            IServerStreamWriter<MakePaymentsResponse> responseStream, ServerCallContext context)
        {
            await foreach (var request in requestStream.ReadAllAsync())
            {
                await responseStream.WriteAsync(new MakePaymentsResponse
                {
                    TransactionId = request.TransactionId,
                    Payment = await AnswerAsync(request),
                });
            }
        }

        private async Task<MakePaymentResponse> AnswerAsync(MakePaymentRequest request)
        {
            await gate.PassAsync();
            return new MakePaymentResponse
            {
                TransactionId = request.TransactionId,
                Outcome = PaymentOutcome.Accepted,
                Balance = request.Amount,
                Version = 1,
            };
        }
    }
}
