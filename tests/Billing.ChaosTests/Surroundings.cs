using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Npgsql;

namespace Billing.ChaosTests;

/// <summary>What the platform stands on: its clock, its network, its disk.</summary>
[Collection(OverBrokers.Name)]
public sealed class Surroundings(BrokerStack stack) : IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();

    public ValueTask InitializeAsync()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        return ValueTask.CompletedTask;
    }

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Fact]
    public async Task A_clock_that_steps_an_hour_forth_and_back_changes_nothing_in_the_books()
    {
        Assert.SkipWhen(SteppingClock.Missing is not null, SteppingClock.Missing ?? "");
        var clock = await SteppingClock.CreateAsync(_folder);
        var backend = await Stack.AddAsync(ServiceRole.PaymentBackend, 8, CancellationToken.None, clock.Settings);
        var proxy = await Stack.AddAsync(ServiceRole.Proxy, 8, CancellationToken.None, clock.Settings);
        try
        {
            await using var traffic = new AuditedTraffic(stack, [proxy.Address, .. stack.Stack.ProxyAddresses.Take(2)]);
            foreach (var off in new[] { TimeSpan.Zero, TimeSpan.FromHours(1), TimeSpan.Zero, TimeSpan.FromHours(-1) })
            {
                clock.Step(off);
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
    public async Task A_slow_network_with_loss_makes_it_slower_and_changes_nothing_in_the_books()
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
            await using var traffic = new AuditedTraffic(
                stack, [$"http://127.0.0.1:{toProxy.Port}", Stack.ProxyAddresses[0]]);

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

    // The header of its answers says what a service takes for the time.
    private static async Task ClockIsOffAsync(ServiceProcess service, TimeSpan by)
    {
        using var http = new HttpClient();
        await Conditions.UntilAsync($"the clock of {service.Process.Name} is off by {by}", async () =>
        {
            using var answer = await http.GetAsync(new Uri(service.Address + "/health/ready"));
            return (answer.Headers.Date!.Value - TimeProvider.System.GetUtcNow() - by).Duration() < TimeSpan.FromMinutes(1);
        });
    }
}
