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

namespace Billing.UnitTests.Client;

public sealed class BulkPaymentsTests
{
    private static readonly Payment Five = NewFive();

    private readonly FakeBackend _backend = new();

    [Fact]
    public async Task Each_payment_gets_one_answer()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var payments = Payments(2_000);
        var answers = await ToListAsync(RunAsync(client, Requests(payments)));
        Assert.Equal(payments.Select(p => p.TransactionId).Order(), answers.Select(a => a.TransactionId).Order());
        Assert.Equal(0, client.Retried);
    }

    [Fact]
    public async Task Without_requests_there_are_no_answers_and_no_call()
    {
        using var client = Client("http://127.0.0.1:1");
        Assert.Empty(await ToListAsync(RunAsync(client, Requests([]))));
    }

    [Fact]
    public async Task When_its_proxy_stops_the_unanswered_payments_go_to_the_next_with_the_same_ids()
    {
        await using var first = await ProxyHost.StartAsync(_backend);
        await using var second = await ProxyHost.StartAsync(_backend);
        using var client = Client(first, second);
        var payments = Payments(4_000);
        var answers = new List<MakePaymentsResponse>();
        var stopping = new List<Task>();
        await foreach (var answer in RunAsync(client, Requests(payments)))
        {
            answers.Add(answer);
            if (answers.Count == 1_000)
            {
                // Stops the proxy that has the stream.
                stopping.Add((first.Admission.InFlight > 0 ? first : second).StopAsync());
            }
        }
        await Task.WhenAll(stopping);
        Assert.Equal(payments.Select(p => p.TransactionId).Order(), answers.Select(a => a.TransactionId).Order());
        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Payment?.Outcome));
    }

    [Fact]
    public async Task A_run_continues_with_another_stream_after_the_proxy_ends_an_idle_one()
    {
        var time = new ManualTime();
        await using var proxy = await ProxyHost.StartAsync(_backend, time: time);
        using var client = Client(proxy);
        var payments = Payments(5);

        var answers = await ToListAsync(RunAsync(client, OneAfterTheOtherAsync(payments, proxy)));

        Assert.Equal(payments.Select(p => p.TransactionId), answers.Select(a => a.TransactionId));
        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Payment?.Outcome));

        async IAsyncEnumerable<MakePaymentRequest> OneAfterTheOtherAsync(MakePaymentRequest[] all, ProxyHost idle)
        {
            for (var i = 0; i < all.Length; i++)
            {
                yield return all[i];
                while (_backend.Commands.DistinctBy(c => c.TransactionId).Count() <= i)
                {
                    await Task.Yield();
                }
                await time.RunToEndAsync(idle.WaitUntilIdleAsync());
            }
        }
    }

    [Fact]
    public async Task A_payment_that_was_not_processed_is_retried_and_answered_once()
    {
        var refused = new ConcurrentDictionary<string, int>();
        _backend.Answer = command => Task.FromResult(refused.AddOrUpdate(command.TransactionId, 1, (_, n) => n + 1) <= 2
            ? Replies.Error(0, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable, "the broker is down")
            : FakeBackend.Accepted(command));
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var answers = await ToListAsync(RunAsync(client, Requests(Payments(300))));
        Assert.Equal(300, answers.Count);
        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Payment?.Outcome));
        Assert.Equal(600, client.Retried);
    }

    [Fact]
    public async Task A_payment_that_is_always_refused_fails_after_the_retries_and_the_others_do_not()
    {
        var payments = Payments(10);
        _backend.Answer = command => Task.FromResult(command.TransactionId == payments[3].TransactionId
            ? Replies.Error(0, StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight, "full")
            : FakeBackend.Accepted(command));
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var answers = await ToListAsync(RunAsync(client, Requests(payments)));
        var failed = Assert.Single(answers, answer => answer.Error is not null);
        Assert.Equal(payments[3].TransactionId, failed.TransactionId);
        Assert.Equal(ErrorReasons.TooManyInFlight, failed.Error.Reason);
        Assert.Equal(4, _backend.Commands.Count(c => c.TransactionId == failed.TransactionId));
        Assert.Equal(10, answers.Count);
    }

    [Theory]
    [InlineData(StatusCode.DeadlineExceeded)]
    [InlineData(StatusCode.AlreadyExists)]
    public async Task Other_failures_are_returned_without_retries(StatusCode status)
    {
        _backend.Answer = _ => Task.FromResult(Replies.Error(0, status, "REASON", "no"));
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var answer = Assert.Single(await ToListAsync(RunAsync(client, Requests(Payments(1)))));
        Assert.Equal((int)status, answer.Error.StatusCode);
        Assert.Single(_backend.Commands);
    }

    [Theory]
    [InlineData(StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed, RejectionReason.NotAllowed)]
    [InlineData(StatusCode.Unauthenticated, ErrorReasons.TokenInvalid, RejectionReason.NotAuthenticated)]
    [InlineData(StatusCode.Unimplemented, ErrorReasons.NotServedHere, RejectionReason.Other)]
    public async Task A_payment_whose_only_sending_is_refused_is_rejected(
        StatusCode status, string reason, RejectionReason rejection)
    {
        _backend.Answer = _ => Task.FromResult(Replies.Error(0, status, reason, "no"));
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);

        var result = Assert.Single(await ToListAsync(client.PayAllAsync(new[] { Five }.ToAsyncEnumerable())));

        Assert.Equal(
            Outcome.Rejected<PaymentAnswer>(Five.Id, new Rejection { Reason = rejection, Message = "no" }), result);
    }

    [Fact]
    public async Task A_payment_that_may_have_been_recorded_before_it_is_refused_is_unknown()
    {
        var asked = 0;
        _backend.Answer = _ => Task.FromResult(Interlocked.Increment(ref asked) == 1
            ? Replies.Error(0, StatusCode.Unavailable, ErrorReasons.BackendUnavailable, "away")
            : Replies.Error(0, StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed, "no"));
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);

        var result = Assert.Single(await ToListAsync(client.PayAllAsync(new[] { Five }.ToAsyncEnumerable())));

        Assert.Equal(Outcome.Unknown<PaymentAnswer>(
            Five.Id, new Uncertainty { Reason = ErrorReasons.AccountNotAllowed, Message = "no" }), result);
    }

    /// <summary>A proxy answers what it has read before it ends a stream so.</summary>
    [Theory]
    [InlineData(StatusCode.PermissionDenied, ErrorReasons.ScopeMissing)]
    [InlineData(StatusCode.Unauthenticated, ErrorReasons.TokenExpired)]
    public async Task The_unanswered_payments_of_a_refused_stream_are_rejected(StatusCode status, string reason)
    {
        await using var proxy = await ScriptedProxy.StartAsync(ScriptedProxy.Failure(status, reason));
        using var client = Client(proxy.Address);

        var results = await ToListAsync(
            client.PayAllAsync(Enumerable.Range(0, 5).Select(_ => NewFive()).ToAsyncEnumerable()));

        Expect.Accepted(results[0]);
        Assert.Equal(4, results.Count(result => result.Rejected is not null));
        Assert.Single(proxy.HeadersOf("traceparent"));
    }

    /// <summary>Which of them was invalid, and whether the others were recorded, is not known.</summary>
    [Fact]
    public async Task The_unanswered_payments_of_an_invalid_stream_are_unknown()
    {
        await using var proxy = await ScriptedProxy.StartAsync(
            ScriptedProxy.Failure(StatusCode.InvalidArgument, ErrorReasons.RequestTooLarge));
        using var client = Client(proxy.Address);

        var results = await ToListAsync(
            client.PayAllAsync(Enumerable.Range(0, 5).Select(_ => NewFive()).ToAsyncEnumerable()));

        Assert.Equal(4, results.Count(result => result.Unknown is { Reason: ErrorReasons.RequestTooLarge }));
    }

    [Fact]
    public async Task A_payment_sent_twice_has_two_answers()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var payment = Payments(1)[0];
        var answers = await ToListAsync(RunAsync(client, Requests([payment, payment, payment])));
        Assert.Equal(3, answers.Count);
        Assert.All(answers, answer => Assert.Equal(payment.TransactionId, answer.TransactionId));
    }

    [Fact]
    public async Task Without_a_reachable_proxy_payments_in_flight_fail_and_the_run_ends_with_the_error()
    {
        using var client = Client("http://127.0.0.1:1");
        var answers = new List<MakePaymentsResponse>();
        var e = await Assert.ThrowsAsync<RpcException>(async () =>
        {
            await foreach (var answer in RunAsync(client, Requests(Payments(100))))
            {
                answers.Add(answer);
            }
        });
        Assert.Equal(StatusCode.Unavailable, e.StatusCode);
        Assert.NotEmpty(answers);
        Assert.All(answers, answer => Assert.Equal((int)StatusCode.Unavailable, answer.Error.StatusCode));
    }

    [Fact]
    public async Task Without_a_reachable_proxy_a_run_with_all_payments_in_flight_only_answers_them_as_failed()
    {
        using var client = Client("http://127.0.0.1:1");
        var answers = await ToListAsync(RunAsync(client, Requests(Payments(5))));
        Assert.Equal(5, answers.Count(answer => answer.Error.StatusCode == (int)StatusCode.Unavailable));
    }

    [Fact]
    public async Task Requests_are_read_only_as_fast_as_answers_are_enumerated()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var read = 0;
        var answered = 0;
        await foreach (var answer in RunAsync(client, Counted()))
        {
            // The current answer has not freed its place in the window yet.
            Assert.InRange(Volatile.Read(ref read) - answered, 1, 16);
            answered++;
        }
        Assert.Equal(200, answered);

        async IAsyncEnumerable<MakePaymentRequest> Counted()
        {
            foreach (var payment in Payments(200))
            {
                Interlocked.Increment(ref read);
                yield return payment;
            }
            await Task.CompletedTask;
        }
    }

    [Fact]
    public async Task Ending_the_enumeration_of_answers_ends_the_stream_and_the_requests()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var ended = false;
        await foreach (var answer in RunAsync(client, Endless()))
        {
            break;
        }
        Assert.True(ended);
        await proxy.WaitUntilIdleAsync();

        async IAsyncEnumerable<MakePaymentRequest> Endless(
            [EnumeratorCancellation] CancellationToken cancellationToken = default)
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
    public async Task A_cancelled_run_throws()
    {
        _backend.Answer = _ => new TaskCompletionSource<Reply>().Task;
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        using var cancelled = new CancellationTokenSource();
        var running = ToListAsync(RunAsync(client, Requests(Payments(5)), cancelled.Token));
        await Poll.UntilAsync(() => _backend.Commands.Count >= 5);
        await cancelled.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
    }

    [Fact]
    public async Task An_exception_of_the_requests_ends_the_run_after_the_answers_to_earlier_requests()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var answers = 0;
        await Assert.ThrowsAsync<InvalidDataException>(async () =>
        {
            await foreach (var answer in RunAsync(client, Broken()))
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
            throw new InvalidDataException("the file of payments is incomplete");
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

    private static IAsyncEnumerable<MakePaymentsResponse> RunAsync(
        BillingClient client, IAsyncEnumerable<MakePaymentRequest> requests,
        CancellationToken cancellationToken = default) =>
        client.Calls.Bulk().RunAsync(requests, cancellationToken).Select(answer => answer.Message);

    private static Payment NewFive() => new(new CardAccount(CardNetwork.Visa, "a"), new Amount(5, "USD"));

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
