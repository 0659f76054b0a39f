using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Billing.Client;
using Billing.Contracts;
using Billing.Messaging;
using Billing.UnitTests.Proxy;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Client.Sdk;

public sealed class BulkPaymentsTests
{
    private readonly FakeBackend _backend = new();

    [Fact]
    public async Task Each_payment_gets_one_answer()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var payments = Payments(2_000);
        var answers = await ToListAsync(client.MakePaymentsAsync(Requests(payments)));
        Assert.Equal(payments.Select(p => p.TransactionId).Order(), answers.Select(a => a.TransactionId).Order());
        Assert.Equal(0, client.Retried);
    }

    [Fact]
    public async Task Without_requests_there_are_no_answers_and_no_call()
    {
        using var client = Client("http://127.0.0.1:1");
        Assert.Empty(await ToListAsync(client.MakePaymentsAsync(Requests([]))));
    }

    [Fact]
    public async Task When_its_proxy_stops_the_unanswered_payments_go_to_the_next_under_the_same_ids()
    {
        await using var first = await ProxyHost.StartAsync(_backend);
        await using var second = await ProxyHost.StartAsync(_backend);
        using var client = Client(first, second);
        var payments = Payments(4_000);
        var answers = new List<MakePaymentResponse>();
        var stopping = new List<Task>();
        await foreach (var answer in client.MakePaymentsAsync(Requests(payments)))
        {
            answers.Add(answer);
            if (answers.Count == 1_000)
            {
                // Whichever of the two has the stream.
                stopping.Add((first.Admission.InFlight > 0 ? first : second).StopAsync());
            }
        }
        await Task.WhenAll(stopping);
        Assert.Equal(payments.Select(p => p.TransactionId).Order(), answers.Select(a => a.TransactionId).Order());
        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Outcome));
    }

    [Fact]
    public async Task A_run_goes_on_with_another_stream_where_the_proxy_has_ended_an_idle_one()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, options => options.StreamIdleMax = TimeSpan.FromMilliseconds(1));
        using var client = Client(proxy);
        var payments = Payments(5);

        var answers = await ToListAsync(client.MakePaymentsAsync(OneAfterTheOtherAsync(payments, proxy)));

        Assert.Equal(payments.Select(p => p.TransactionId), answers.Select(a => a.TransactionId));
        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Outcome));

        async IAsyncEnumerable<MakePaymentRequest> OneAfterTheOtherAsync(MakePaymentRequest[] all, ProxyHost idle)
        {
            for (var i = 0; i < all.Length; i++)
            {
                yield return all[i];
                while (_backend.Commands.DistinctBy(c => c.TransactionId).Count() <= i)
                {
                    await Task.Yield();
                }
                await idle.WaitUntilIdleAsync();
            }
        }
    }

    [Fact]
    public async Task A_payment_that_was_not_taken_is_sent_again_and_answered_once()
    {
        var refused = new ConcurrentDictionary<string, int>();
        _backend.Answer = command => Task.FromResult(refused.AddOrUpdate(command.TransactionId, 1, (_, n) => n + 1) <= 2
            ? Replies.Error(0, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable, "away")
            : FakeBackend.Accepted(command));
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var answers = await ToListAsync(client.MakePaymentsAsync(Requests(Payments(300))));
        Assert.Equal(300, answers.Count);
        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Outcome));
        Assert.Equal(600, client.Retried);
    }

    [Fact]
    public async Task A_payment_that_nobody_takes_fails_after_the_retries_and_the_others_do_not()
    {
        var payments = Payments(10);
        _backend.Answer = command => Task.FromResult(command.TransactionId == payments[3].TransactionId
            ? Replies.Error(0, StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight, "full")
            : FakeBackend.Accepted(command));
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var answers = await ToListAsync(client.MakePaymentsAsync(Requests(payments)));
        var failed = Assert.Single(answers, answer => answer.Outcome == PaymentOutcome.Failed);
        Assert.Equal(payments[3].TransactionId, failed.TransactionId);
        Assert.Equal(ErrorReasons.TooManyInFlight, failed.Error.Reason);
        Assert.Equal(4, _backend.Commands.Count(c => c.TransactionId == failed.TransactionId));
        Assert.Equal(10, answers.Count);
    }

    [Theory]
    [InlineData(StatusCode.DeadlineExceeded)]
    [InlineData(StatusCode.AlreadyExists)]
    public async Task Another_failure_is_handed_on_at_once(StatusCode status)
    {
        _backend.Answer = _ => Task.FromResult(Replies.Error(0, status, "REASON", "no"));
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var answer = Assert.Single(await ToListAsync(client.MakePaymentsAsync(Requests(Payments(1)))));
        Assert.Equal((int)status, answer.Error.StatusCode);
        Assert.Single(_backend.Commands);
    }

    [Fact]
    public async Task A_payment_sent_twice_has_two_answers()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var payment = Payments(1)[0];
        var answers = await ToListAsync(client.MakePaymentsAsync(Requests([payment, payment, payment])));
        Assert.Equal(3, answers.Count);
        Assert.All(answers, answer => Assert.Equal(payment.TransactionId, answer.TransactionId));
    }

    [Fact]
    public async Task Where_no_proxy_is_what_was_in_hand_fails_and_the_run_ends_with_the_error()
    {
        using var client = Client("http://127.0.0.1:1");
        var answers = new List<MakePaymentResponse>();
        var e = await Assert.ThrowsAsync<RpcException>(async () =>
        {
            await foreach (var answer in client.MakePaymentsAsync(Requests(Payments(100))))
            {
                answers.Add(answer);
            }
        });
        Assert.Equal(StatusCode.Unavailable, e.StatusCode);
        Assert.NotEmpty(answers);
        Assert.All(answers, answer => Assert.Equal((int)StatusCode.Unavailable, answer.Error.StatusCode));
    }

    [Fact]
    public async Task Where_no_proxy_is_and_all_was_in_hand_all_of_it_fails_and_the_run_ends()
    {
        using var client = Client("http://127.0.0.1:1");
        var answers = await ToListAsync(client.MakePaymentsAsync(Requests(Payments(5))));
        Assert.Equal(5, answers.Count(answer => answer.Error.StatusCode == (int)StatusCode.Unavailable));
    }

    [Fact]
    public async Task Whoever_takes_answers_slowly_is_read_for_slowly()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var taken = 0;
        var answered = 0;
        await foreach (var answer in client.MakePaymentsAsync(Counted()))
        {
            // The one being handed on has freed no place yet.
            Assert.InRange(Volatile.Read(ref taken) - answered, 1, 16);
            answered++;
        }
        Assert.Equal(200, answered);

        async IAsyncEnumerable<MakePaymentRequest> Counted()
        {
            foreach (var payment in Payments(200))
            {
                Interlocked.Increment(ref taken);
                yield return payment;
            }
            await Task.CompletedTask;
        }
    }

    [Fact]
    public async Task Whoever_stops_taking_answers_ends_the_stream_and_the_requests()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var ended = false;
        await foreach (var answer in client.MakePaymentsAsync(Endless()))
        {
            break;
        }
        Assert.True(ended);
        await proxy.WaitUntilIdleAsync();

        async IAsyncEnumerable<MakePaymentRequest> Endless([EnumeratorCancellation] CancellationToken cancellationToken = default)
        {
            try
            {
                while (true)
                {
                    cancellationToken.ThrowIfCancellationRequested();
                    await Task.Yield();
                    yield return Payments(1)[0];
                }
            }
            finally
            {
                ended = true;
            }
        }
    }

    [Fact]
    public async Task A_run_that_is_cancelled_says_so()
    {
        _backend.Answer = _ => new TaskCompletionSource<Reply>().Task;
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        using var cancelled = new CancellationTokenSource();
        var running = ToListAsync(client.MakePaymentsAsync(Requests(Payments(5)), cancelled.Token));
        while (_backend.Commands.Count < 5)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(5));
        }
        await cancelled.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
    }

    [Fact]
    public async Task Requests_that_fail_end_the_run_with_their_error_after_the_answers_to_those_before()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var answers = 0;
        await Assert.ThrowsAsync<InvalidDataException>(async () =>
        {
            await foreach (var answer in client.MakePaymentsAsync(Broken()))
            {
                answers++;
            }
        });
        Assert.Equal(3, answers);

        static async IAsyncEnumerable<MakePaymentRequest> Broken()
        {
            foreach (var payment in Payments(3))
            {
                yield return payment;
            }
            await Task.Yield();
            throw new InvalidDataException("the file of payments is cut short");
        }
    }

    private static BillingClient Client(params ProxyHost[] proxies) => Client([.. proxies.Select(p => p.Address)]);

    private static BillingClient Client(params string[] addresses)
    {
        var options = new BillingClientOptions
        {
            RetriesMax = 3,
            RetryDelay = TimeSpan.FromMilliseconds(1),
            StreamWindow = 16,
        };
        Array.ForEach(addresses, options.Proxies.Add);
        return new BillingClient(options, TimeProvider.System);
    }

    private static MakePaymentRequest[] Payments(int count) => [.. Enumerable.Range(0, count).Select(n =>
    {
        var payment = Samples.Payment("acct-" + (n % 50));
        payment.TransactionId = Guid.NewGuid().ToString();
        return payment;
    })];

    private static async IAsyncEnumerable<MakePaymentRequest> Requests(IEnumerable<MakePaymentRequest> payments)
    {
        foreach (var payment in payments)
        {
            yield return payment;
        }
        await Task.CompletedTask;
    }

    private static async Task<List<T>> ToListAsync<T>(IAsyncEnumerable<T> items)
    {
        var list = new List<T>();
        await foreach (var item in items)
        {
            list.Add(item);
        }
        return list;
    }
}
