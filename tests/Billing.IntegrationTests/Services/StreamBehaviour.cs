using Billing.Client;
using Billing.Contracts;
using Billing.LocalStack;
using Billing.V1;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>The behaviour of payment streams, independent of the transport of their commands.</summary>
public abstract class StreamBehaviour
{
    private readonly StackFixture _stack;

    protected StreamBehaviour(StackFixture stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task Five_thousand_payments_on_one_stream_are_answered_once_each_and_recorded_once()
    {
        var payments = StreamedPayments.Make(5_000);

        var answers = await StreamedPayments.SendAsync(_stack.Client(), payments);

        StreamedPayments.AssertAnsweredOnceEach(payments, answers);
        await StreamedPayments.AssertRecordedOnceEachAsync(_stack, payments);
    }

    [Fact]
    public async Task An_invalid_payment_on_a_stream_fails_with_its_field_and_the_others_are_answered()
    {
        var payments = StreamedPayments.Make(101);
        payments[50].Amount.Nanos = 1_000_000_000;

        var answers = await StreamedPayments.SendAsync(_stack.Client(), payments);

        var failed = Assert.Single(answers, answer => answer.Error is not null);
        Assert.Equal(payments[50].TransactionId, failed.TransactionId);
        Assert.Equal((int)Grpc.Core.StatusCode.InvalidArgument, failed.Error.StatusCode);
        Assert.Equal(ErrorReasons.InvalidField, failed.Error.Reason);
        Assert.Equal("amount.nanos", failed.Error.Field);
        Assert.Equal(100, answers.Count(answer => answer.Payment?.Outcome == PaymentOutcome.Accepted));
    }

    [Fact]
    public async Task Copies_of_a_payment_on_one_stream_get_the_same_answer_and_store_one_event()
    {
        var payment = StackFixture.Payment();

        var answers = await StreamedPayments.SendAsync(_stack.Client(), [.. Enumerable.Repeat(payment, 20)]);

        Assert.Equal(20, answers.Count);
        Assert.All(answers, answer => Assert.Equal(answers[0].Payment.AsReplay(), answer.Payment.AsReplay()));
        Assert.InRange(answers.Count(answer => !answer.Payment.Replayed), 0, 1);
        Assert.Equal(1, await _stack.CountEventsAsync(payment.AccountId));
    }

    [Fact]
    public async Task A_transaction_id_reused_for_a_different_payment_fails_on_a_stream()
    {
        var payment = StackFixture.Payment();
        await _stack.Client().MakePaymentAsync(payment);
        var other = payment.Clone();
        other.Amount.Units++;

        var answer = Assert.Single(await StreamedPayments.SendAsync(_stack.Client(), [other]));

        Assert.Equal((int)Grpc.Core.StatusCode.AlreadyExists, answer.Error.StatusCode);
        Assert.Equal(ErrorReasons.TransactionIdReused, answer.Error.Reason);
    }

    [Fact]
    public async Task A_declined_payment_is_answered_on_a_stream()
    {
        var answer = Assert.Single(
            await StreamedPayments.SendAsync(_stack.Client(), [StackFixture.Payment(amount: 10_001)]));

        Assert.Equal(
            (PaymentOutcome.Declined, V1.DeclineReason.CreditLimitExceeded),
            (answer.Payment.Outcome, answer.Payment.DeclineReason));
    }
}

/// <summary>Over Kafka.</summary>
[Collection(OverKafka.Name)]
public sealed class StreamsOverKafka(KafkaStack stack) : StreamBehaviour(stack);

/// <summary>In one process.</summary>
[Collection(InOneProcess.Name)]
public sealed class StreamsEmbedded(EmbeddedStack stack) : StreamBehaviour(stack);

/// <summary>Proxies that are killed or stopped during a stream.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class StreamFailures
{
    private readonly KafkaStack _stack;

    public StreamFailures(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task A_proxy_killed_during_a_stream_loses_and_duplicates_nothing() =>
        await EndProxyDuringStreamAsync(proxy =>
        {
            proxy.Process.Kill();
            return Task.CompletedTask;
        });

    [Fact]
    public async Task A_proxy_stopped_during_a_stream_ends_in_time_and_the_client_continues_at_another_proxy() =>
        await EndProxyDuringStreamAsync(async proxy =>
        {
            Assert.True(await proxy.Process.StopAsync(Patience));
            Assert.Equal(0, proxy.Process.ExitCode);
        });

    private async Task EndProxyDuringStreamAsync(Func<ServiceProcess, Task> end)
    {
        var first = _stack.Stack.Of(ServiceRole.Proxy).First();
        var options = new BillingClientOptions();
        options.Proxies.Add(first.Address);
        options.Proxies.Add(_stack.Stack.Of(ServiceRole.Proxy).Last().Address);
        using var client = new BillingClient(options, TimeProvider.System);
        // The client's rotation begins with the second proxy, so after this call the stream goes to the first.
        await client.MakePaymentAsync(StackFixture.Payment());
        var payments = StreamedPayments.Make(10_000);
        var answers = new List<MakePaymentsResponse>();
        var ending = Task.CompletedTask;
        try
        {
            await foreach (var answer in client.MakePaymentsAsync(StreamedPayments.Requests(payments)))
            {
                answers.Add(answer);
                if (answers.Count == 1_000)
                {
                    ending = end(first);
                }
            }
            await ending;

            Assert.True(client.Retried > 0);
            StreamedPayments.AssertAnsweredOnceEach(payments, answers);
            await StreamedPayments.AssertRecordedOnceEachAsync(_stack, payments);
        }
        finally
        {
            if (first.Process.HasExited)
            {
                await _stack.Stack.AddAsync(first.Role, first.Number, CancellationToken.None);
            }
        }
    }
}

/// <summary>Creates the payments of a stream, and checks their answers and events.</summary>
internal static class StreamedPayments
{
    /// <summary>Creates payments to fifty accounts that no other test uses.</summary>
    public static MakePaymentRequest[] Make(int count)
    {
        var accounts = Enumerable.Range(0, 50).Select(_ => StackFixture.NewAccount()).ToArray();
        return [.. Enumerable.Range(0, count).Select(n => StackFixture.Payment(accounts[n % accounts.Length], 0.01m))];
    }

    public static async Task<List<MakePaymentsResponse>> SendAsync(BillingClient client, MakePaymentRequest[] payments)
    {
        var answers = new List<MakePaymentsResponse>();
        await foreach (var answer in client.MakePaymentsAsync(Requests(payments)))
        {
            answers.Add(answer);
        }
        return answers;
    }

    public static async IAsyncEnumerable<MakePaymentRequest> Requests(MakePaymentRequest[] payments)
    {
        foreach (var payment in payments)
        {
            yield return payment;
        }
        await Task.CompletedTask;
    }

    public static void AssertAnsweredOnceEach(MakePaymentRequest[] payments, List<MakePaymentsResponse> answers)
    {
        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Payment?.Outcome));
        Assert.Equal(payments.Select(p => p.TransactionId).Order(), answers.Select(a => a.TransactionId).Order());
    }

    public static async Task AssertRecordedOnceEachAsync(StackFixture stack, MakePaymentRequest[] payments)
    {
        await using var database = NpgsqlDataSource.Create(stack.ConnectionString);
        await using var count = database.CreateCommand(
            "select count(*) from billing.mt_events where stream_id = any($1)");
        count.Parameters.AddWithValue(
            payments.Select(p => StreamId.For(p.PaymentType, p.AccountId)).Distinct().ToArray());
        Assert.Equal((long)payments.Length, await count.ExecuteScalarAsync());
    }
}
