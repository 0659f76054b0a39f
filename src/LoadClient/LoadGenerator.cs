using Billing.Client;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.LoadClient;

/// <summary>A load generator like the billing prototype's client: sends all of its requests at once, to the proxies in turn, and
/// measures each request and the whole run. Payments may also be sent over streams or at a constant rate.</summary>
public sealed class LoadGenerator : IAsyncDisposable
{
    // Concurrent requests of the warm-up: enough to open every connection.
    private const int WarmUpConcurrency = 64;
    private static readonly TimeSpan PaceInterval = TimeSpan.FromMilliseconds(10);

    private readonly LoadOptions _options;
    private readonly TimeProvider _time;
    private readonly BillingClient _client;
    private readonly Journal? _journal;
    private readonly RequestMeter _payments;
    private readonly RequestMeter _balances;
    private readonly RequestMeter _warmUp;
    private readonly RandomRequests _requests;

    /// <summary>Creates a generator.</summary>
    public LoadGenerator(LoadOptions options, TimeProvider time)
    {
        _options = options;
        _time = time;
        // Retries are not limited: a run that overloads the platform on purpose still has to get every answer.
        var client = new BillingClientOptions { Deadline = options.Deadline, RetryShare = null };
        foreach (var proxy in options.Proxies)
        {
            client.Proxies.Add(proxy);
        }
        _client = new BillingClient(client, time);
        _journal = options.Journal is { } path ? new Journal(path) : null;
        _payments = new RequestMeter(options.Requests, time);
        _balances = new RequestMeter(options.Balances, time);
        _warmUp = new RequestMeter(options.WarmUp, time);
        _requests = new RandomRequests(options.Accounts, new Random(options.Seed), options.OtherCurrencyPercent);
    }

    /// <summary>Number of requests answered or failed so far.</summary>
    public int Done => _payments.Done + _balances.Done;

    /// <summary>Sends the payments of the warm-up, which are not measured.</summary>
    public async Task WarmUpAsync(CancellationToken cancellationToken)
    {
        for (var sent = 0; sent < _options.WarmUp; sent += WarmUpConcurrency)
        {
            var round = Math.Min(WarmUpConcurrency, _options.WarmUp - sent);
            await Task.WhenAll(Enumerable.Range(0, round).Select(_ => PayAsync(_requests.Payment(), _warmUp, cancellationToken)));
        }
    }

    /// <summary>Sends the requests and waits for every answer.</summary>
    /// <param name="enough">Stops sending further payments, if they are sent at a rate.</param>
    /// <param name="cancellationToken">Stops waiting for answers.</param>
    public async Task<LoadResult> RunAsync(CancellationToken enough, CancellationToken cancellationToken)
    {
        var payments = Enumerable.Range(0, _options.Requests).Select(_ => _requests.Payment()).ToArray();
        var balances = Enumerable.Range(0, _options.Balances).Select(_ => _requests.Balance()).ToArray();
        var answers = new List<Task>(payments.Length + balances.Length);
        var started = _time.Microseconds();
        // Every request of a burst is due at this moment, however long the loops below take; payments at a rate are not.
        var burst = _time.GetTimestamp();
        _balances.BeginAt(burst);
        if (_options.Rate == 0 || _options.Streams > 0)
        {
            _payments.BeginAt(burst);
        }
        if (_options.Streams > 0)
        {
            answers.Add(new StreamedPayments(_client, _payments, Note, _time).SendAsync(payments, _options.Streams, cancellationToken));
        }
        else if (_options.Rate == 0)
        {
            answers.AddRange(payments.Select(request => PayAsync(request, _payments, cancellationToken)));
        }
        answers.AddRange(balances.Select(request => CheckAsync(request, cancellationToken)));
        if (_options is { Streams: 0, Rate: > 0 })
        {
            answers.AddRange(await PayEvenlyAsync(payments, enough, cancellationToken));
        }
        await Task.WhenAll(answers);
        return new LoadResult(
            started, _time.Microseconds(), _client.Retried, _payments.Figures(), _balances.Figures(),
            _warmUp.Answers + _payments.Answers);
    }

    /// <summary>Writes the rest of the journal and closes the connections.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_journal is not null)
        {
            await _journal.DisposeAsync();
        }
        _client.Dispose();
    }

    private async Task<List<Task>> PayEvenlyAsync(
        MakePaymentRequest[] payments, CancellationToken enough, CancellationToken cancellationToken)
    {
        var answers = new List<Task>(payments.Length);
        using var pace = new PeriodicTimer(PaceInterval, _time);
        var start = _time.GetTimestamp();
        while (answers.Count < payments.Length && !enough.IsCancellationRequested)
        {
            await pace.WaitForNextTickAsync(cancellationToken);
            var due = Math.Min(payments.Length, (int)(_time.GetElapsedTime(start).TotalSeconds * _options.Rate));
            while (answers.Count < due)
            {
                answers.Add(PayAsync(payments[answers.Count], _payments, cancellationToken));
            }
        }
        return answers;
    }

    private async Task PayAsync(MakePaymentRequest request, RequestMeter meter, CancellationToken cancellationToken)
    {
        var start = _time.GetTimestamp();
        try
        {
            var response = await _client.MakePaymentAsync(request, cancellationToken);
            meter.Answered(start, response.Outcome == PaymentOutcome.Declined);
            Note(request, response);
        }
        catch (RpcException e)
        {
            meter.Failed(e);
            Note(request, null);
        }
    }

    private async Task CheckAsync(CheckBalanceRequest request, CancellationToken cancellationToken)
    {
        var start = _time.GetTimestamp();
        try
        {
            var response = await _client.CheckBalanceAsync(request, cancellationToken);
            _balances.Answered(start, declined: false);
            _journal?.Add(JournalEntry.Of(request, response));
        }
        catch (RpcException e)
        {
            _balances.Failed(e);
        }
    }

    private void Note(MakePaymentRequest request, MakePaymentResponse? response) =>
        _journal?.Add(JournalEntry.Of(request, response));
}
