using System.Text.Json;
using Billing.LocalStack;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Grpc.Net.Client;

namespace Billing.IntegrationTests.Webhooks;

/// <summary>A stack that sends its events to a receiver, as <c>./billing up --webhook URL</c> starts it.</summary>
public sealed class WebhookStack
{
    [Fact]
    public async Task A_payment_arrives_at_the_receiver_as_it_was_answered()
    {
        Assert.SkipWhen(KafkaPrograms.FindHome() is null, "Kafka is not available: set KAFKA_HOME to its folder or BILLING_KAFKA_ARCHIVE to its archive");
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        using var ports = new FreePorts();
        await using var receiver = await new Receiver(ports.Take()).StartAsync();
        await using var stack = await BillingStack.StartAsync(
            new StackOptions { Proxies = 1, PaymentBackends = 1, BalanceBackends = 1, Webhook = WebhookTarget.New(receiver.Url) }, new Progress<string>(), patience.Token);
        using var channel = GrpcChannel.ForAddress(stack.ProxyAddresses[0]);
        var payment = StackFixture.Payment();

        var answer = await new V1.Billing.BillingClient(channel).MakePaymentAsync(payment, cancellationToken: patience.Token);
        await receiver.UntilTakenAsync([payment.AccountId], 1, patience.Token);

        using var body = JsonDocument.Parse(receiver.Taken.Single().Body);
        Assert.Equal(payment.TransactionId, body.RootElement.GetProperty("transaction_id").GetString());
        Assert.Equal("PAYMENT_ACCEPTED", body.RootElement.GetProperty("type").GetString());
        Assert.Equal(answer.Version, body.RootElement.GetProperty("version").GetInt64());
        Assert.Equal(answer.Balance.Units.ToString(System.Globalization.CultureInfo.InvariantCulture), body.RootElement.GetProperty("balance").GetProperty("units").GetString());
    }

    [Fact]
    public async Task A_stack_without_a_topic_of_events_does_not_start_with_a_receiver()
    {
        var failure = await Assert.ThrowsAsync<StackException>(() => BillingStack.StartAsync(
            new StackOptions { Kafka = "embedded", Webhook = WebhookTarget.New("http://localhost:1/") }, new Progress<string>(), TestContext.Current.CancellationToken));

        Assert.Contains("which the transport embedded does not have", failure.Message, StringComparison.Ordinal);
    }
}
