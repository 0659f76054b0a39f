using System.Collections.Concurrent;
using Billing.Client;
using Billing.Contracts;
using Billing.LoadClient;
using Billing.V1;
using Grpc.Core;

namespace Billing.Chaos;

/// <summary>Workers that make payments and check balances, each with one request at a time, until every payment has an answer: a
/// call that fails after the client's own retries is repeated with the same transaction id. Some payments are sent twice at the
/// same time through two proxies, and some balances are requested with the version of the payment just made.</summary>
public sealed class Traffic : IAsyncDisposable
{
    private const int WorkersPerClient = 8;
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(100);

    private readonly TrafficOptions _options;
    private readonly TimeProvider _time;
    private readonly BillingClient[] _clients;
    private readonly BillingClient[] _single;
    private readonly Journal _journal;
    private readonly CallClock _clock;
    private readonly Pace _pace;
    private readonly CancellationTokenSource _giveUp = new();
    private readonly ConcurrentDictionary<string, long> _failures = new(StringComparer.Ordinal);
    private readonly ConcurrentQueue<string> _violations = new();
    private readonly List<Task> _workers = [];
    private volatile bool _stopping;
    private int _answered;
    private int _unanswered;
    private int _declined;
    private int _twins;
    private int _balances;
    private long _retriedByWorkers;

    /// <summary>Creates the traffic; nothing is sent before <see cref="Start"/>.</summary>
    public Traffic(TrafficOptions options, TimeProvider time)
    {
        _options = options;
        _time = time;
        _clients = [.. Enumerable.Range(0, (options.Workers + WorkersPerClient - 1) / WorkersPerClient).Select(_ => Connect(options.Proxies))];
        _single = [.. options.Proxies.Select(proxy => Connect([proxy], retriesMax: 0))];
        _journal = new Journal(options.Journal);
        _clock = new CallClock(time);
        _pace = new Pace(options.Rate, time);
    }

    /// <summary>The start and end of each call.</summary>
    public CallTimes Calls { get; } = new();

    /// <summary>Number of payments answered so far.</summary>
    public int Answered => Volatile.Read(ref _answered);

    /// <summary>Number of retries so far, by the client and by the workers.</summary>
    public long SentAgain => _clients.Concat(_single).Sum(c => c.Retried) + Interlocked.Read(ref _retriedByWorkers);

    /// <summary>Gives some accounts a low credit limit, so that some payments are declined. Call this before
    /// <see cref="Start"/>.</summary>
    /// <exception cref="RpcException">A limit could not be set.</exception>
    public Task SetLowLimitsAsync(CancellationToken cancellationToken) =>
        LowLimits.SetAsync(_clients[0], _options.AccountPrefix, _options.Accounts, cancellationToken);

    /// <summary>Starts the workers.</summary>
    public void Start() => _workers.AddRange(
        Enumerable.Range(0, _options.Workers).Select(worker => Task.Run(() => WorkAsync(worker))));

    /// <summary>Waits until the given number of further payments is answered.</summary>
    /// <exception cref="TimeoutException">They were not answered within the bound.</exception>
    public async Task WaitForMoreAsync(int count, TimeSpan bound, CancellationToken cancellationToken)
    {
        var goal = Answered + count;
        var start = _time.GetTimestamp();
        using var poll = new PeriodicTimer(TimeSpan.FromMilliseconds(20), _time);
        while (Answered < goal)
        {
            if (_time.GetElapsedTime(start) > bound)
            {
                throw new TimeoutException($"Of {count} payments {goal - Answered} were not answered within {bound.TotalSeconds} s; failures so far: {string.Join("; ", _failures.Select(f => $"{f.Value} x {f.Key}"))}");
            }
            await poll.WaitForNextTickAsync(cancellationToken);
        }
    }

    /// <summary>Lets every worker finish its current payment, and completes the journal.</summary>
    /// <param name="bound">The time limit; payments without an answer by then are journalled as unanswered.</param>
    public async Task<TrafficResult> StopAsync(TimeSpan bound)
    {
        _stopping = true;
        _giveUp.CancelAfter(bound);
        await Task.WhenAll(_workers);
        await _journal.DisposeAsync();
        return new TrafficResult
        {
            Payments = Answered,
            Declined = _declined,
            Duplicates = _twins,
            Balances = _balances,
            Unanswered = _unanswered,
            Retried = _clients.Concat(_single).Sum(c => c.Retried),
            AskedAgain = Interlocked.Read(ref _retriedByWorkers),
            Failures = _failures.ToDictionary(StringComparer.Ordinal),
            Violations = [.. _violations],
        };
    }

    /// <summary>Cancels the calls in flight and closes the connections.</summary>
    public async ValueTask DisposeAsync()
    {
        _stopping = true;
        await _giveUp.CancelAsync();
        await Task.WhenAll(_workers);
        await _journal.DisposeAsync();
        foreach (var client in _clients.Concat(_single))
        {
            client.Dispose();
        }
        _giveUp.Dispose();
    }

    private async Task WorkAsync(int worker)
    {
        var random = new Random((_options.Seed * 1009) + worker);
        var client = _clients[worker % _clients.Length];
        while (!_stopping)
        {
            try
            {
                await _pace.TakeTurnAsync(_giveUp.Token);
                var payment = Payment(random);
                var paid = random.Next(100) < _options.DuplicatePercent && _single.Length > 1
                    ? await PayTwiceAsync(payment, client, random) : await PayAsync(payment, client, client, _clock.Now);
                if (random.Next(100) < _options.BalancePercent)
                {
                    await CheckAsync(payment, paid.Version, client);
                }
            }
            catch (OperationCanceledException)
            {
                return;
            }
        }
    }

    private async Task<MakePaymentResponse> PayAsync(MakePaymentRequest payment, BillingClient first, BillingClient then, long began)
    {
        try
        {
            var paid = await CallAsync("payment of " + StreamOf(payment), (client, token) => client.MakePaymentAsync(payment, token), first, then);
            Interlocked.Increment(ref _answered);
            if (paid.Outcome == PaymentOutcome.Declined)
            {
                Interlocked.Increment(ref _declined);
            }
            _journal.Add(JournalEntry.Of(payment, paid, _clock.Since(began)));
            return paid;
        }
        catch (OperationCanceledException)
        {
            Interlocked.Increment(ref _unanswered);
            _journal.Add(JournalEntry.Failed(payment, isFinal: false, _clock.Since(began)));
            throw;
        }
    }

    private async Task<MakePaymentResponse> PayTwiceAsync(MakePaymentRequest payment, BillingClient client, Random random)
    {
        var one = random.Next(_single.Length);
        var other = (one + 1 + random.Next(_single.Length - 1)) % _single.Length;
        var began = _clock.Now;
        var twin = CallAsync("copy of a payment of " + StreamOf(payment), (proxy, token) => proxy.MakePaymentAsync(payment, token), _single[other], client);
        MakePaymentResponse paid;
        try
        {
            paid = await PayAsync(payment, _single[one], client, began);
        }
        catch (OperationCanceledException)
        {
            await twin.ContinueWith(static _ => { }, TaskScheduler.Default);
            throw;
        }
        var second = await twin;
        Interlocked.Increment(ref _twins);
        if (!paid.Equals(second))
        {
            _violations.Enqueue($"different answers to the same payment: {paid} and {second}");
        }
        return paid;
    }

    private async Task CheckAsync(MakePaymentRequest payment, long version, BillingClient client)
    {
        var request = new CheckBalanceRequest
        {
            AccountId = payment.AccountId,
            PaymentType = payment.PaymentType,
            MinVersion = version,
        };
        var began = _clock.Now;
        var balance = await CallAsync("balance of " + StreamOf(payment), (proxy, token) => proxy.CheckBalanceAsync(request, token), client, client);
        Interlocked.Increment(ref _balances);
        _journal.Add(JournalEntry.Of(request, balance, _clock.Since(began)));
        if (balance.Version < version)
        {
            _violations.Enqueue(
                $"a balance of {StreamOf(payment)} is older than requested: version {balance.Version}, not {version}");
        }
    }

    private async Task<T> CallAsync<T>(
        string what, Func<BillingClient, CancellationToken, Task<T>> call, BillingClient first, BillingClient then)
    {
        var start = _time.GetTimestamp();
        var tries = 1;
        for (var client = first; ; client = then, tries++)
        {
            try
            {
                var answer = await call(client, _giveUp.Token);
                Calls.Add(start, _time.GetTimestamp(), $"{what}, attempts: {tries}");
                return answer;
            }
            catch (RpcException e)
            {
                // Errors that are not retryable are also retried and counted, because every payment must have an answer at the
                // end of a soak.
                _giveUp.Token.ThrowIfCancellationRequested();
                _failures.AddOrUpdate($"{e.StatusCode} {BillingClient.Reason(e)}".TrimEnd(), 1, static (_, count) => count + 1);
            }
            Interlocked.Increment(ref _retriedByWorkers);
            await Task.Delay(RetryDelay, _time, _giveUp.Token);
        }
    }

    private static string StreamOf(MakePaymentRequest payment) => StreamId.For(payment.PaymentType, payment.AccountId);

    private MakePaymentRequest Payment(Random random) => new()
    {
        TransactionId = Guid.NewGuid().ToString(),
        AccountId = _options.AccountPrefix + random.Next(_options.Accounts),
        PaymentType = PaymentTypes.All[random.Next(PaymentTypes.All.Count)],
        Amount = (random.Next(1, 100_00) / 100m).ToMoney(random.Next(100) < _options.OtherCurrencyPercent ? "EUR" : "USD"),
    };

    private BillingClient Connect(IEnumerable<string> proxies, int? retriesMax = null)
    {
        // No limit on the share of retries: the faults are intentional, and the proxies need not be protected from retries.
        var options = new BillingClientOptions { Deadline = _options.Deadline, RetryShare = null };
        options.RetriesMax = retriesMax ?? options.RetriesMax;
        foreach (var proxy in proxies)
        {
            options.Proxies.Add(proxy);
        }
        return new BillingClient(options, _time);
    }
}
