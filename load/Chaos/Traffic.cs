using System.Globalization;
using Billing.Client;
using Billing.Driver;
using Billing.Driver.Lives;
using Billing.LocalStack.Processes;
using Billing.Messaging.Requests;

namespace Billing.Chaos;

/// <summary>Callers that make payments and check balances, each with one request at a time, until every payment has
/// an answer. Some payments are made twice at the same time through two proxies, some balances are requested with
/// the version of the payment just made, and some payments are authorised, captured, voided, left to expire and
/// given back. Others queue payments over REST and ask for their status later. An operator freezes, closes and
/// reopens accounts.</summary>
public sealed class Traffic : IAsyncDisposable
{
    private const int CallersPerClient = 8;

    private const int LifePercent = 10;

    // Some holds expire while they are captured, others soon after or not at all.
    private static readonly int[] HoldSeconds = [1, 5, 30, 0];

    // Longer than a soak.
    private static readonly TimeSpan TokenLifetime = TimeSpan.FromDays(2);

    private readonly TrafficOptions _options;
    private readonly string? _token;
    private readonly TimeProvider _time;
    private readonly BillingClient[] _single;
    private readonly BillingAdminClient _operator;
    private readonly TrafficRecord _record = new();
    private readonly LoadDriver _driver;
    private readonly CancellationTokenSource _enough = new();
    private readonly CancellationTokenSource _giveUp = new();
    private readonly AccountOperator _accounts;
    private readonly QueuedPayments? _queued;
    private Task<LoadResult>? _running;
    private Task? _operating;
    private Task? _queueing;
    private int _answered;

    /// <summary>Creates the traffic; nothing is sent before <see cref="Start"/>.</summary>
    public Traffic(TrafficOptions options, TimeProvider time)
    {
        _options = options;
        _time = time;
        _token = options.Credentials?.Token("soak", Scopes.All, ["*/*"], TokenLifetime, time);
        _operator = new BillingAdminClient(OptionsOf(options.AdminProxies ?? options.Proxies), time);
        _accounts = new AccountOperator(_operator, options, time);
        _queued = options.QueuedRate > 0 ? new QueuedPayments(options, _token, _record, time) : null;
        _single = [.. options.Proxies.Select(proxy => Connect([proxy], retriesMax: 0))];
        var load = new LoadSpec
        {
            Addresses = options.Proxies,
            Connections = (options.Workers + CallersPerClient - 1) / CallersPerClient,
            Shape = new LoadShape.Closed(options.Workers, double.MaxValue)
            {
                RatePerS = options.Rate - options.QueuedRate,
            },
            Accounts = options.Accounts,
            AccountPrefix = options.AccountPrefix,
            OtherCurrencyPercent = options.OtherCurrencyPercent,
            ReadBackPercent = options.BalancePercent,
            LifePercent = LifePercent,
            NotesPercent = options.NotesPercent,
            HoldSeconds = HoldSeconds,
            Seed = options.Seed,
            Journal = options.Journal,
        };
        var seeds = new Random(options.Seed);
        _driver = new LoadDriver(
            load, time,
            _ => new UntilAnsweredChannel(
                Connect(options.Proxies), _single, options.DuplicatePercent,
                new Random(seeds.Next()), _record, time, _giveUp.Token))
        {
            Observe = (_, answer, _) => _ = answer.Message is null ? 0 : Interlocked.Increment(ref _answered),
        };
    }

    /// <summary>The files to which answers are written.</summary>
    public IReadOnlyList<string> Journals =>
        _queued is null ? [_options.Journal] : [_options.Journal, _options.QueuedJournal];

    /// <summary>The start and end of each call.</summary>
    public CallTimes Calls => _record.Calls;

    /// <summary>Number of payments answered so far.</summary>
    public int Answered => Volatile.Read(ref _answered);

    /// <summary>Gives some accounts a low credit limit, so that some payments are declined. Call this before
    /// <see cref="Start"/>.</summary>
    /// <exception cref="Grpc.Core.RpcException">A limit could not be set.</exception>
    public Task SetLowLimitsAsync(CancellationToken cancellationToken) =>
        LowLimits.SetAsync(_operator, _options.AccountPrefix, _options.Accounts, cancellationToken);

    /// <summary>Starts the callers.</summary>
    public void Start()
    {
        _running = Task.Run(() => _driver.RunAsync(_enough.Token));
        _operating = Task.Run(() => _accounts.RunAsync(_enough.Token, _giveUp.Token));
        _queueing = Task.Run(() => _queued?.RunAsync(_enough.Token, _giveUp.Token) ?? Task.CompletedTask);
    }

    /// <summary>Waits until the given number of further payments is answered.</summary>
    /// <exception cref="TimeoutException">They were not answered within the bound.</exception>
    public async Task WaitForMoreAsync(int count, TimeSpan bound, CancellationToken cancellationToken)
    {
        var goal = Answered + count;
        if (await Poll.LastAsync(
            () => Task.FromResult(Answered), answered => answered >= goal, bound, cancellationToken) < goal)
        {
            throw new TimeoutException(string.Create(CultureInfo.InvariantCulture,
                $"Of {count} payments {goal - Answered} were not answered within {bound.TotalSeconds} s; "
                    + $"failures so far: {string.Join("; ", _record.Failures.Select(f => $"{f.Value} x {f.Key}"))}"));
        }
    }

    /// <summary>Lets every caller finish its current payment, and completes the journal.</summary>
    /// <param name="bound">The time limit; payments without an answer by then are journalled as unanswered.</param>
    public async Task<TrafficResult> StopAsync(TimeSpan bound)
    {
        await _enough.CancelAsync();
        _giveUp.CancelAfter(bound);
        var result = await _running!;
        await _operating!;
        await _queueing!;
        await DisposeJournalsAsync();
        var followUps = result.Phases[0].FollowUps;
        var payments = result.Phases[0].Payments;
        return new TrafficResult
        {
            Payments = (int)result.PaymentsAnswered + (_queued?.Answered ?? 0),
            Declined = (int)payments.Declined + (_queued?.Declined ?? 0),
            Duplicates = _record.Duplicates,
            Balances = (int)result.BalancesAnswered,
            Lives = (int)(followUps.GetValueOrDefault(FollowUps.LookUps)?.Ok ?? 0),
            StatusChanges = _accounts.Changes,
            Queued = _queued is null ? 0 : _queued.Answered + _queued.Failed,
            QueuedFailed = _queued?.Failed ?? 0,
            Unanswered = (int)payments.Errors.Values.Sum() + (_queued?.Unanswered ?? 0),
            Retried = result.Retried + _single.Sum(c => c.Retried),
            AskedAgain = _record.Repeated,
            Failures = _record.Failures,
            Violations =
            [
                .. _record.Violations, .. _accounts.Violations,
                .. followUps.SelectMany(kind => kind.Value.Errors.Keys.Select(error => $"{kind.Key}: {error}")),
            ],
        };
    }

    /// <summary>Cancels the calls in flight and closes the connections.</summary>
    public async ValueTask DisposeAsync()
    {
        await _enough.CancelAsync();
        await _giveUp.CancelAsync();
        await (_running ?? Task.CompletedTask);
        await (_operating ?? Task.CompletedTask);
        await (_queueing ?? Task.CompletedTask);
        await DisposeJournalsAsync();
        Array.ForEach(_single, client => client.Dispose());
        _operator.Dispose();
        _enough.Dispose();
        _giveUp.Dispose();
    }

    private async ValueTask DisposeJournalsAsync()
    {
        await _driver.DisposeAsync();
        if (_queued is not null)
        {
            await _queued.DisposeAsync();
        }
    }

    private BillingClient Connect(IEnumerable<string> proxies, int? retriesMax = null) =>
        new(OptionsOf(proxies, retriesMax), _time);

    private BillingClientOptions OptionsOf(IEnumerable<string> proxies, int? retriesMax = null)
    {
        // No limit on the share of retries: the faults are intentional, and the proxies need not be
        // protected from retries.
        var options = new BillingClientOptions { Deadline = _options.Deadline, RetryShare = null, Token = _token };
        options.Tls.CaFile = _options.Credentials?.CaFile;
        options.RetriesMax = retriesMax ?? options.RetriesMax;
        foreach (var proxy in proxies)
        {
            options.Proxies.Add(proxy);
        }
        return options;
    }
}
