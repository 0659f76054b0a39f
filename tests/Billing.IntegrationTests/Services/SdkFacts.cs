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

    protected override IBillingClient Billing => _stack.Client();

    protected override IBillingAdminClient Admin => _stack.Admin();
}

/// <summary>In one process.</summary>
[Collection(InOneProcess.Name)]
public sealed class SdkFactsEmbedded(EmbeddedStack stack) : BillingFacts
{
    protected override IBillingClient Billing => stack.Client();

    protected override IBillingAdminClient Admin => stack.Admin();
}
