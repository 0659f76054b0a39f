using Billing.Client;

namespace Billing.IntegrationTests.Services;

/// <summary>The guarantees of the SDK to its callers, over Kafka.</summary>
[Collection(OverKafka.Name)]
public sealed class SdkFactsOverKafka : BillingFacts
{
    private readonly KafkaStack _stack;

    public SdkFactsOverKafka(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    protected override BillingClient Billing => _stack.Client();

    protected override BillingAdminClient Admin => _stack.Admin();
}

/// <summary>In one process.</summary>
[Collection(InOneProcess.Name)]
public sealed class SdkFactsEmbedded(EmbeddedStack stack) : BillingFacts
{
    protected override BillingClient Billing => stack.Client();

    protected override BillingAdminClient Admin => stack.Admin();
}
