using Billing.Chaos.Network;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Npgsql;

namespace Billing.ChaosTests;

/// <summary>Faults of the environment of the services: of the clock and of the network.</summary>
[Collection(OverBrokers.Name)]
public sealed class EnvironmentFaults(BrokerStack stack) : IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();

    public ValueTask InitializeAsync()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        return ValueTask.CompletedTask;
    }

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Fact]
    public async Task Clock_steps_of_an_hour_forward_and_back_lose_and_double_no_payment()
    {
        Assert.SkipWhen(PreloadedLibrary.Missing is not null, PreloadedLibrary.Missing ?? "");
        var clock = await PreloadedLibrary.SteppingClockAsync(_folder, CancellationToken.None);
        var backend = await Stack.AddAsync(ServiceRole.PaymentBackend, 8, CancellationToken.None, clock.Settings);
        var proxy = await Stack.AddAsync(ServiceRole.Proxy, 8, CancellationToken.None, clock.Settings);
        try
        {
            await using var traffic = new AuditedTraffic(stack, [proxy.Address, .. stack.Stack.ProxyAddresses.Take(2)]);
            foreach (var off in new[] { TimeSpan.Zero, TimeSpan.FromHours(1), TimeSpan.Zero, TimeSpan.FromHours(-1) })
            {
                clock.Set((long)off.TotalSeconds);
                await ClockIsOffAsync(backend, off);
                await traffic.WaitForMoreAsync(200);
            }
            await traffic.EndCleanAsync();
        }
        finally
        {
            await Stack.RemoveAsync(proxy);
            await Stack.RemoveAsync(backend);
        }
    }

    [Fact]
    public async Task A_slow_network_with_packet_loss_loses_and_doubles_no_payment()
    {
        var slow = RelayBehaviour.Slow;
        var database = new NpgsqlConnectionStringBuilder(stack.ConnectionString);
        await using var toDatabase = new TcpRelay(database.Port, slow);
        database.Port = toDatabase.Port;
        var settings = new Dictionary<string, string>
        {
            ["Billing__Kafka__BootstrapServers"] = stack.RelayedBrokers(slow),
            ["Billing__EventStore__ConnectionString"] = database.ConnectionString,
        };
        var backend = await Stack.AddAsync(ServiceRole.PaymentBackend, 7, CancellationToken.None, settings);
        var proxy = await Stack.AddAsync(ServiceRole.Proxy, 7, CancellationToken.None, settings);
        try
        {
            await using var toProxy = new TcpRelay(new Uri(proxy.Address).Port, slow);
            await using var traffic = new AuditedTraffic(stack, [toProxy.Address, Stack.ProxyAddresses[0]]);

            await traffic.WaitForMoreAsync(200);

            await traffic.EndCleanAsync();
        }
        finally
        {
            await Stack.RemoveAsync(proxy);
            await Stack.RemoveAsync(backend);
        }
    }

    private BillingStack Stack => stack.Stack;

    // The Date header of its answers contains the time of the service.
    private static async Task ClockIsOffAsync(ServiceProcess service, TimeSpan by)
    {
        using var http = new HttpClient();
        await Poll.UntilAsync(async () =>
        {
            using var answer = await http.GetAsync(new Uri(service.Address + "/health/ready"));
            return (answer.Headers.Date!.Value - TimeProvider.System.GetUtcNow() - by).Duration()
                < TimeSpan.FromMinutes(1);
        });
    }
}
