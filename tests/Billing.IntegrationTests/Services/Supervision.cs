using Billing.LocalStack;
using Billing.Messaging;
using Billing.V1;

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

        // Some of the accounts belong to this backend; payments to them are answered by the backend that takes them over.
        var payments = new List<Task<MakePaymentResponse>>();
        while (!broken.Process.HasExited)
        {
            var request = StackFixture.Payment();
            request.AccountId = StartupHook.PoisonAccounts + payments.Count;
            request.PaymentType = Contracts.PaymentTypes.All[payments.Count % Contracts.PaymentTypes.All.Count];
            payments.Add(_stack.Proxy().MakePaymentAsync(request).ResponseAsync);
            await Task.Delay(TimeSpan.FromMilliseconds(50), patience.Token);
        }
        var answers = await Task.WhenAll(payments);

        Assert.Equal(1, broken.Process.ExitCode);
        var critical = Assert.Single(broken.Process.LastLogLines(200), line => line.Contains("crit:", StringComparison.Ordinal));
        Assert.Contains("CommandConsumer failed", critical, StringComparison.Ordinal);
        Assert.Contains("planted", critical, StringComparison.Ordinal);
        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Outcome));
        await _stack.Stack.AddAsync(ServiceRole.PaymentBackend, number, CancellationToken.None);
    }

    [Fact]
    public async Task A_deleted_reply_topic_is_recreated_and_calls_succeed_again()
    {
        await _stack.Proxy().MakePaymentAsync(StackFixture.Payment());
        using var admin = new Confluent.Kafka.AdminClientBuilder(
            new Confluent.Kafka.AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers }).Build();
        var topics = admin.GetMetadata(Patience).Topics.Select(t => t.Topic).Where(Topics.IsReplyTopic).ToList();

        await admin.DeleteTopicsAsync(topics);

        var request = StackFixture.Payment();
        var start = TimeProvider.System.GetTimestamp();
        MakePaymentResponse? paid = null;
        while (paid is null)
        {
            try
            {
                paid = await _stack.Proxy().MakePaymentAsync(request, deadline: TimeProvider.System.GetUtcNow().UtcDateTime.AddSeconds(2));
            }
            catch (Grpc.Core.RpcException) when (TimeProvider.System.GetElapsedTime(start) < Patience)
            {
                // The topic for its answer did not exist.
            }
        }
        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        Assert.DoesNotContain(_stack.Stack.Services, service => service.Process.HasExited);
    }
}
