using System.Globalization;
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
        var library = Directory.Exists("/usr/lib")
            ? Directory.EnumerateFiles("/usr/lib", "libfaketimeMT.so.1", new EnumerationOptions { RecurseSubdirectories = true, MaxRecursionDepth = 3, IgnoreInaccessible = true }).FirstOrDefault()
            : null;
        Assert.SkipWhen(library is null, "libfaketime is not installed (Debian: apt-get install libfaketime)");
        var clock = Path.Combine(_folder.FullName, "clock");
        await File.WriteAllTextAsync(clock, "+0");
        var settings = new Dictionary<string, string>
        {
            ["LD_PRELOAD"] = library!,
            ["FAKETIME_TIMESTAMP_FILE"] = clock,
            ["FAKETIME_CACHE_DURATION"] = "1",
            ["FAKETIME_DONT_FAKE_MONOTONIC"] = "1",
            ["DONT_FAKE_MONOTONIC"] = "1",
        };
        var backend = await Stack.AddAsync(ServiceRole.PaymentBackend, 8, CancellationToken.None, settings);
        var proxy = await Stack.AddAsync(ServiceRole.Proxy, 8, CancellationToken.None, settings);
        try
        {
            await using var traffic = new AuditedTraffic(stack, [proxy.Address, .. stack.Stack.ProxyAddresses.Take(2)]);
            foreach (var offset in new[] { "+3600", "+0", "-3600" })
            {
                await traffic.WaitForMoreAsync(200);
                await File.WriteAllTextAsync(clock, offset);
            }
            await traffic.WaitForMoreAsync(300);
            await traffic.EndCleanAsync();
        }
        finally
        {
            await Stack.RemoveAsync(proxy);
            await Stack.RemoveAsync(backend);
        }
        var last = (await File.ReadAllLinesAsync(backend.Process.LogFile)).Last(line => line.StartsWith("20", StringComparison.Ordinal));
        var stamp = DateTimeOffset.Parse(last.Split(' ')[0], CultureInfo.InvariantCulture);
        Assert.True(TimeProvider.System.GetUtcNow() - stamp > TimeSpan.FromMinutes(30), "The clock was not stepped: " + last);
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

            await traffic.WaitForMoreAsync(400);

            await traffic.EndCleanAsync();
        }
        finally
        {
            await Stack.RemoveAsync(proxy);
            await Stack.RemoveAsync(backend);
        }
    }

    private BillingStack Stack => stack.Stack;
}
