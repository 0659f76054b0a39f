using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Billing.Client;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.LoadClient;

/// <summary>A load generator like the billing prototype's client: sends all of its requests at once, to the proxies in turn, and
/// measures each request and the whole run. Payments may also be sent over streams or at a constant rate.</summary>
internal sealed class LoadGenerator(LoadOptions options, TimeProvider time) : IAsyncDisposable
{
    // Concurrent requests of the warm-up: enough to open every connection.
    private const int WarmUpConcurrency = 64;
    private static readonly TimeSpan PaceInterval = TimeSpan.FromMilliseconds(10);

    private readonly CallClock _clock = new(time);
    private readonly BillingClient _client = Connect(options, time);
    private readonly Journal? _journal = options.Journal is { } path ? new Journal(path) : null;
    private readonly RequestMeter _payments = new(options.Requests, time);
    private readonly RequestMeter _balances = new(options.Balances, time);
    private readonly RequestMeter _warmUp = new(options.WarmUp, time);
    private readonly RandomRequests _requests = new(options.Accounts, new Random(options.Seed), options.OtherCurrencyPercent);

    /// <summary>Number of requests answered or failed so far.</summary>
    public int Done => _payments.Done + _balances.Done;

    /// <summary>Sends the payments of the warm-up, which are not measured.</summary>
    public async Task WarmUpAsync(CancellationToken cancellationToken)
    {
        for (var sent = 0; sent < options.WarmUp; sent += WarmUpConcurrency)
        {
            var round = Math.Min(WarmUpConcurrency, options.WarmUp - sent);
            await Task.WhenAll(Enumerable.Range(0, round).Select(_ => PayAsync(_requests.Payment(), _warmUp, cancellationToken)));
        }
    }

    /// <summary>Sends the requests and waits for every answer.</summary>
    /// <param name="enough">Stops sending further payments, if they are sent at a rate.</param>
    /// <param name="cancellationToken">Stops waiting for answers.</param>
    public async Task<LoadResult> RunAsync(CancellationToken enough, CancellationToken cancellationToken)
    {
        var payments = Enumerable.Range(0, options.Requests).Select(_ => _requests.Payment()).ToArray();
        var balances = Enumerable.Range(0, options.Balances).Select(_ => _requests.Balance()).ToArray();
        var answers = new List<Task>(payments.Length + balances.Length);
        var started = time.Microseconds();
        // Every request of a burst is due at this moment, however long the loops below take; payments at a rate are not.
        var burst = time.GetTimestamp();
        _balances.BeginAt(burst);
        if (options.Rate == 0 || options.Streams > 0)
        {
            _payments.BeginAt(burst);
        }
        if (options.Streams > 0)
        {
            answers.AddRange(Enumerable.Range(0, options.Streams).Select(stream =>
                StreamAsync([.. payments.Where((_, i) => i % options.Streams == stream)], cancellationToken)));
        }
        else if (options.Rate == 0)
        {
            answers.AddRange(payments.Select(request => PayAsync(request, _payments, cancellationToken)));
        }
        answers.AddRange(balances.Select(request => CheckAsync(request, cancellationToken)));
        if (options is { Streams: 0, Rate: > 0 })
        {
            answers.AddRange(await PayEvenlyAsync(payments, enough, cancellationToken));
        }
        await Task.WhenAll(answers);
        return new LoadResult(
            started, time.Microseconds(), _client.Retried, _payments.Figures(), _balances.Figures(),
            _warmUp.Answers + _payments.Answers);
    }

    public async ValueTask DisposeAsync()
    {
        if (_journal is not null)
        {
            await _journal.DisposeAsync();
        }
        _client.Dispose();
    }

    private static BillingClient Connect(LoadOptions options, TimeProvider time)
    {
        // Retries are not limited: a run that overloads the platform on purpose still has to get every answer.
        var client = new BillingClientOptions { Deadline = options.Deadline, RetryShare = null };
        foreach (var proxy in options.Proxies)
        {
            client.Proxies.Add(proxy);
        }
        return new BillingClient(client, time);
    }

    private async Task<List<Task>> PayEvenlyAsync(
        MakePaymentRequest[] payments, CancellationToken enough, CancellationToken cancellationToken)
    {
        var answers = new List<Task>(payments.Length);
        using var pace = new PeriodicTimer(PaceInterval, time);
        var start = time.GetTimestamp();
        while (answers.Count < payments.Length && !enough.IsCancellationRequested)
        {
            await pace.WaitForNextTickAsync(cancellationToken);
            var due = Math.Min(payments.Length, (int)(time.GetElapsedTime(start).TotalSeconds * options.Rate));
            while (answers.Count < due)
            {
                answers.Add(PayAsync(payments[answers.Count], _payments, cancellationToken));
            }
        }
        return answers;
    }

    private async Task PayAsync(MakePaymentRequest request, RequestMeter meter, CancellationToken cancellationToken)
    {
        var (start, began, retried) = (time.GetTimestamp(), _clock.Now, _client.Retried);
        try
        {
            Answer(request, meter, start, await _client.MakePaymentAsync(request, cancellationToken), began);
        }
        catch (RpcException e)
        {
            // Retries of other calls count too: then the outcome is unknown rather than wrong.
            Fail(request, meter, e, PaymentFailure.IsFinal(e, wasRetried: _client.Retried != retried), began);
        }
    }

    /// <summary>Sends payments over a stream and measures each, from when its stream takes it until its answer arrives.</summary>
    private async Task StreamAsync(MakePaymentRequest[] payments, CancellationToken cancellationToken)
    {
        var unanswered = payments.ToDictionary(payment => payment.TransactionId, StringComparer.Ordinal);
        var started = new ConcurrentDictionary<string, (long Start, long Began)>(StringComparer.Ordinal);
        try
        {
            await foreach (var answer in _client.MakePaymentsAsync(StartingEachAsync(payments, started, cancellationToken), cancellationToken))
            {
                if (!unanswered.Remove(answer.TransactionId, out var payment))
                {
                    continue;
                }
                var (start, began) = started[answer.TransactionId];
                if (answer.Outcome == PaymentOutcome.Failed)
                {
                    var status = (StatusCode)answer.Error.StatusCode;
                    var isFinal = PaymentFailure.IsFinal(status, answer.Error.Reason, wasRetried: true);
                    Fail(payment, _payments, new RpcException(new Status(status, answer.Error.Message)), isFinal, began);
                }
                else
                {
                    Answer(payment, _payments, start, answer, began);
                }
            }
        }
        catch (RpcException e)
        {
            foreach (var payment in unanswered.Values)
            {
                var began = started.TryGetValue(payment.TransactionId, out var sent) ? sent.Began : _clock.Now;
                Fail(payment, _payments, e, isFinal: false, began);
            }
        }
    }

    private async IAsyncEnumerable<MakePaymentRequest> StartingEachAsync(
        MakePaymentRequest[] payments, ConcurrentDictionary<string, (long Start, long Began)> started,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (var payment in payments)
        {
            cancellationToken.ThrowIfCancellationRequested();
            started[payment.TransactionId] = (time.GetTimestamp(), _clock.Now);
            yield return payment;
        }
        await Task.CompletedTask;
    }

    private async Task CheckAsync(CheckBalanceRequest request, CancellationToken cancellationToken)
    {
        var (start, began) = (time.GetTimestamp(), _clock.Now);
        try
        {
            var response = await _client.CheckBalanceAsync(request, cancellationToken);
            _balances.Answered(start, declined: false);
            _journal?.Add(JournalEntry.Of(request, response, _clock.Since(began)));
        }
        catch (RpcException e)
        {
            _balances.Failed(e);
        }
    }

    private void Answer(MakePaymentRequest payment, RequestMeter meter, long start, MakePaymentResponse answer, long began)
    {
        meter.Answered(start, answer.Outcome == PaymentOutcome.Declined);
        _journal?.Add(JournalEntry.Of(payment, answer, _clock.Since(began)));
    }

    private void Fail(MakePaymentRequest payment, RequestMeter meter, RpcException failure, bool isFinal, long began)
    {
        meter.Failed(failure);
        _journal?.Add(JournalEntry.Failed(payment, isFinal, _clock.Since(began)));
    }
}
