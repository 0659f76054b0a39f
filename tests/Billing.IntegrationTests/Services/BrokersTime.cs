using Billing.Hosting;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Microsoft.Extensions.Hosting.Internal;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.IntegrationTests.Services;

/// <summary>What a service learns of the time of a real broker.</summary>
[Collection(OverKafka.Name)]
public sealed class BrokersTime(KafkaStack stack)
{
    [Theory]
    [InlineData(-3000 * 24)]
    [InlineData(-1)]
    [InlineData(1)]
    [InlineData(3000 * 24)]
    public async Task A_service_on_a_machine_whose_clock_is_off_starts_with_the_right_time(int hours)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        using var steady = new SteadyTime(new Off(TimeSpan.FromHours(hours)));
        using var supervisor = new Supervisor(
            new ApplicationLifetime(NullLogger<ApplicationLifetime>.Instance), NullLogger<Supervisor>.Instance);
        using var watch = new ClockWatch(steady, supervisor, NullLogger<ClockWatch>.Instance);
        var options = Options.Create(new KafkaOptions { BootstrapServers = stack.Stack.BootstrapServers! });
        using var clocks = new BrokerClocks(
            options, new KafkaTopics(options, steady, NullLogger<KafkaTopics>.Instance), steady,
            supervisor, NullLogger<BrokerClocks>.Instance);

        await clocks.StartAsync(CancellationToken.None);
        var unsure = watch.NotReadyReason;
        // The second witness, as a database is to a backend.
        steady.Hear(
            "database", TimeProvider.System.GetUtcNow(), TimeSpan.Zero, steady.GetTimestamp(), steady.GetTimestamp());
        steady.Set();

        Assert.Contains("broker ", unsure, StringComparison.Ordinal);
        Assert.Null(watch.NotReadyReason);
        Assert.Equal(TimeProvider.System.GetUtcNow(), steady.GetUtcNow(), TimeSpan.FromSeconds(10));
        await clocks.StopAsync(CancellationToken.None);
    }

    private sealed class Off(TimeSpan ahead) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => System.GetUtcNow() + ahead;
    }
}
