using Billing.LocalStack;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.V1;
using Confluent.Kafka;
using Confluent.Kafka.Admin;

namespace Billing.IntegrationTests.Services;

/// <summary>The behaviour of a service whose loop fails, because of an injected exception or a deleted topic.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class Supervision
{
    private readonly KafkaStack _stack;

    public Supervision(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task A_backend_whose_consumer_fails_logs_one_line_and_ends_and_another_one_takes_over_its_commands()
    {
        var number = _stack.Stack.Of(ServiceRole.PaymentBackend).First().Number;
        await _stack.Stack.RemoveAsync(_stack.Stack.Of(ServiceRole.PaymentBackend).First(s => s.Number == number));
        var broken = await _stack.Stack.AddAsync(
            ServiceRole.PaymentBackend, number, CancellationToken.None,
            new Dictionary<string, string> { ["DOTNET_STARTUP_HOOKS"] = typeof(StartupHook).Assembly.Location });
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);

        // Some of the accounts belong to this backend; payments to them are answered by the backend
        // that takes them over.
        var payments = new List<Task<MakePaymentResponse>>();
        await Poll.UntilAsync(() =>
        {
            var request = StackFixture.Payment();
            request.AccountId = StartupHook.PoisonAccounts + payments.Count;
            request.PaymentType = Contracts.PaymentTypes.All[payments.Count % Contracts.PaymentTypes.All.Count];
            payments.Add(_stack.Proxy().MakePaymentAsync(request).ResponseAsync);
            return broken.Process.HasExited;
        });
        var answers = await Task.WhenAll(payments);

        Assert.Equal(1, broken.Process.ExitCode);
        var critical = Assert.Single(
            broken.Process.LastLogLines(200), line => line.Contains("crit:", StringComparison.Ordinal));
        Assert.Contains("CommandConsumer failed", critical, StringComparison.Ordinal);
        Assert.Contains("planted", critical, StringComparison.Ordinal);
        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Outcome));
        await _stack.Stack.AddAsync(ServiceRole.PaymentBackend, number, CancellationToken.None);
    }

    [Fact]
    public async Task A_deleted_reply_topic_is_recreated_and_calls_succeed_again()
    {
        await _stack.Proxy().MakePaymentAsync(StackFixture.Payment());
        using var admin = KafkaClients.Admin(
            new AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers });
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        var deleted = await ReplyTopicsAsync(admin);

        await admin.DeleteTopicsAsync(deleted.Values);

        // A broker deletes a topic when it gets to it: until then, calls are answered as before.
        await Poll.UntilAsync(async () =>
            (await ReplyTopicsAsync(admin)).Keys.Except(deleted.Keys).Count() >= _stack.Stack.ProxyAddresses.Count);
        for (var proxy = 0; proxy < _stack.Stack.ProxyAddresses.Count; proxy++)
        {
            Assert.Equal(
                PaymentOutcome.Accepted, (await PayUntilAnsweredAsync(_stack.Proxy(proxy), patience.Token)).Outcome);
        }
        Assert.DoesNotContain(_stack.Stack.Services, service => service.Process.HasExited);
    }

    /// <summary>Returns the names of the reply topics by their ids; a topic that is created
    /// again has another one.</summary>
    private static async Task<Dictionary<string, string>> ReplyTopicsAsync(IAdminClient admin)
    {
        var names = admin.GetMetadata(Patience).Topics.Select(topic => topic.Topic).Where(Topics.IsReplyTopic);
        List<TopicDescription> topics;
        try
        {
            topics = (await admin.DescribeTopicsAsync(TopicCollection.OfTopicNames(names))).TopicDescriptions;
        }
        catch (DescribeTopicsException e)
        {
            // One was deleted since.
            topics = e.Results.TopicDescriptions;
        }
        return topics.Where(topic => !topic.Error.IsError)
            .ToDictionary(topic => topic.TopicId.ToString(), topic => topic.Name, StringComparer.Ordinal);
    }

    private static async Task<MakePaymentResponse> PayUntilAnsweredAsync(
        BillingService.BillingServiceClient proxy, CancellationToken cancellationToken)
    {
        var request = StackFixture.Payment();
        while (true)
        {
            try
            {
                return await proxy.MakePaymentAsync(
                    request, deadline: TimeProvider.System.GetUtcNow().UtcDateTime.AddSeconds(2),
                    cancellationToken: cancellationToken);
            }
            catch (Grpc.Core.RpcException) when (!cancellationToken.IsCancellationRequested)
            {
                // The topic for its answer did not exist.
            }
        }
    }
}
