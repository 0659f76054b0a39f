using Billing.V1;

namespace Billing.IntegrationTests.Services;

/// <summary>What runs of a package that may be stood in for by an assembly without types (polyfills/README.md).</summary>
[Collection(OverKafka.Name)]
public sealed class LoadedPackages
{
    private readonly KafkaStack _stack;

    public LoadedPackages(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task No_process_of_a_stack_loads_the_locks_that_Marten_asks_for()
    {
        var paid = await _stack.Proxy().MakePaymentAsync(StackFixture.Payment());
        var loaded = _stack.Stack.Services.ToDictionary(service => $"{service.Role} {service.Number}", service => File.ReadAllText($"/proc/{service.Process.Id}/maps"));

        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        Assert.Contains(loaded.Values, maps => maps.Contains("/Marten.dll", StringComparison.Ordinal));
        Assert.DoesNotContain(loaded, service => service.Value.Contains("DistributedLock", StringComparison.Ordinal));
    }
}
