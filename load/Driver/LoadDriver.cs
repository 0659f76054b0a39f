using System.Globalization;
using Billing.Client;
using Billing.Contracts;
using Billing.Driver.Channels;
using Billing.Driver.Lives;
using Billing.Driver.Metering;
using Billing.Journals;
using Billing.V1;
using Notes = Billing.Contracts.Notes;
using Outcome = Billing.Driver.Metering.Outcome;

namespace Billing.Driver;

/// <summary>Generates the load of a <see cref="LoadSpec"/>, measures the answers and journals every one of them,
/// those of the warm-up included.</summary>
public sealed class LoadDriver : IAsyncDisposable
{
    // Work that the warm-up leaves behind, e.g. for a read model, must not slow down the measured requests.
    private static readonly TimeSpan PauseAfterWarmUp = TimeSpan.FromMilliseconds(200);

    // The warm-up uses other accounts and amounts than the measurement.
    private const int WarmUpSeed = 500_000;

    private readonly LoadSpec _spec;
    private readonly TimeProvider _time;
    private readonly CallClock _clock;
    private readonly IRequestChannel[] _channels;
    private readonly Journal? _journal;
    private volatile Meter? _meter;
    private long _paymentsAnswered;
    private long _balancesAnswered;

    /// <summary>Creates a driver; connections are opened with the first requests.</summary>
    public LoadDriver(LoadSpec spec, TimeProvider time)
        : this(spec, time, address => Connections.Open(spec, address, time))
    {
    }

    /// <summary>Creates a driver over channels of the caller's own.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="connect">Creates a channel to an address.</param>
    public LoadDriver(LoadSpec spec, TimeProvider time, Func<string, IRequestChannel> connect)
    {
        _spec = spec;
        _time = time;
        _clock = new CallClock(time);
        _channels =
        [
            .. Enumerable.Range(0, spec.Connections).Select(n => connect(spec.Addresses[n % spec.Addresses.Count])),
        ];
        _journal = spec.Journal is { } path ? new Journal(path) : null;
    }

    /// <summary>Called with every answered or failed payment that is measured, the moment at which it was
    /// due, and its answer.</summary>
    public Action<MakePaymentRequest, Answer<MakePaymentResponse>, CallSpan>? Observe { get; init; }

    /// <summary>Number of measured requests answered or failed so far.</summary>
    public long Done => _meter?.Done ?? 0;

    /// <summary>Number of retries by the channels so far.</summary>
    public long Retried => _channels.Sum(channel => channel.Retried);

    /// <summary>Sends the requests of the warm-up and waits for the answers.</summary>
    public async Task WarmUpAsync(CancellationToken cancellationToken)
    {
        if (_spec.WarmUp is { } shape)
        {
            await SendAsync(
                new Meter(_clock.Now, [""], isBurst: false), shape,
                _spec.Seed + WarmUpSeed, isMeasured: false, cancellationToken);
            await Task.Delay(PauseAfterWarmUp, _time, cancellationToken);
        }
    }

    /// <summary>Sends the measured requests and waits for their answers.</summary>
    /// <param name="enough">Ends sending; requests in flight are still awaited, and what was measured is
    /// returned.</param>
    public async Task<LoadResult> RunAsync(CancellationToken enough)
    {
        string[] phases = _spec.Shape is LoadShape.Open open ? [.. open.Phases.Select(phase => phase.Name)] : [""];
        var meter = new Meter(_clock.Now, phases, _spec.Shape is LoadShape.Burst);
        _meter = meter;
        await SendAsync(meter, _spec.Shape, _spec.Seed, isMeasured: true, enough);
        return meter.Result() with
        {
            Retried = Retried,
            PaymentsAnswered = Interlocked.Read(ref _paymentsAnswered),
            BalancesAnswered = Interlocked.Read(ref _balancesAnswered),
        };
    }

    /// <summary>Closes the connections and completes the journal.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var channel in _channels)
        {
            await channel.DisposeAsync();
        }
        if (_journal is not null)
        {
            await _journal.DisposeAsync();
        }
    }

    private Task SendAsync(Meter meter, LoadShape shape, int seed, bool isMeasured, CancellationToken enough)
    {
        var sender = new Sender(this, meter, isMeasured);
        return shape switch
        {
            LoadShape.Burst burst => BurstAsync(sender, burst, RandomRequests.Of(_spec, seed)),
            LoadShape.Closed closed => ClosedAsync(sender, closed, seed, enough),
            LoadShape.Open open => OpenAsync(sender, open, RandomRequests.Of(_spec, seed), enough),
            _ => throw new InvalidOperationException($"Unknown shape {shape}."),
        };
    }

    private Task BurstAsync(Sender sender, LoadShape.Burst burst, RandomRequests random)
    {
        var lives = Enumerable.Range(0, burst.Payments).Where(_ => random.IsAmong(_spec.LifePercent))
            .Select(_ => random.Life(_spec.HoldSeconds)).ToArray();
        var payments = Enumerable.Range(lives.Length, burst.Payments - lives.Length)
            .Select(_ => random.Payment()).ToArray();
        var balances = Enumerable.Range(0, burst.Balances).Select(_ => random.Balance()).ToArray();
        return Task.WhenAll(
        [
            // First, so that what becomes of them is sent beside the other payments and not after them.
            .. lives.Select((life, i) => sender.LiveAsync(ChannelOf(i), life, 0, _clock.Now)),
            .. payments.Select((request, i) => sender.PayAsync(ChannelOf(lives.Length + i), request, 0, _clock.Now)),
            .. balances.Select((request, i) => sender.CheckAsync(ChannelOf(i), request, 0, _clock.Now)),
        ]);
    }

    private Task ClosedAsync(Sender sender, LoadShape.Closed closed, int seed, CancellationToken enough)
    {
        var limit = new SendLimit(_time, closed, enough);
        var pace = closed.RatePerS > 0 ? new Pace(closed.RatePerS, _time) : null;
        return Task.WhenAll(Enumerable.Range(0, closed.Callers).Select(caller =>
            CallInTurnAsync(sender, ChannelOf(caller), limit, pace, RandomRequests.Of(_spec, seed + (caller * 1009)))));
    }

    private async Task CallInTurnAsync(
        Sender sender, IRequestChannel channel, SendLimit limit, Pace? pace, RandomRequests random)
    {
        // Callers begin in parallel on pool threads, not one after the other on this thread.
        await Task.Yield();
        for (var sent = 0L; limit.Admits(sent); sent++)
        {
            if (pace is not null)
            {
                await pace.TakeTurnAsync(limit.Enough).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
            await sender.SendAsync(channel, random, 0, _clock.Now);
        }
    }

    private Task OpenAsync(Sender sender, LoadShape.Open open, RandomRequests random, CancellationToken enough)
    {
        var (start, startUnixUs) = (_time.GetTimestamp(), _clock.Now);
        return new OpenLoop(new Schedule(open.Phases), _time).RunAsync(
            start, (number, due, phase) =>
                sender.SendAsync(ChannelOf(number), random, phase, startUnixUs + (long)due.TotalMicroseconds), enough);
    }

    private IRequestChannel ChannelOf(long number) => _channels[number % _channels.Length];

    /// <summary>Sends single requests, counts and journals their outcomes.</summary>
    private sealed class Sender(LoadDriver driver, Meter meter, bool isMeasured)
    {
        public Task SendAsync(IRequestChannel channel, RandomRequests random, int phase, long due) =>
            random.IsAmong(driver._spec.BalancePercent)
                ? CheckAsync(channel, random.Balance(), phase, due)
                : random.IsAmong(driver._spec.ReadBackPercent)
                ? PayAndReadBackAsync(channel, random.Payment(), phase, due)
                : random.IsAmong(driver._spec.LifePercent)
                ? LiveAsync(channel, random.Life(driver._spec.HoldSeconds), phase, due)
                : PayAsync(channel, random.Payment(), phase, due);

        private async Task PayAndReadBackAsync(IRequestChannel channel, MakePaymentRequest request, int phase, long due)
        {
            if (await PayAsync(channel, request, phase, due) is { } paid)
            {
                var check = new CheckBalanceRequest
                {
                    AccountId = request.AccountId,
                    PaymentType = request.PaymentType,
                    MinVersion = paid.Version,
                };
                await CheckAsync(channel, check, phase, driver._clock.Now);
            }
        }

        public async Task<MakePaymentResponse?> PayAsync(
            IRequestChannel channel, MakePaymentRequest request, int phase, long due)
        {
            var began = driver._clock.Now;
            var answer = await channel.PayAsync(request);
            var span = driver._clock.Since(began);
            if (answer.Message is { } message)
            {
                Interlocked.Increment(ref driver._paymentsAnswered);
                driver._journal?.Add(JournalEntry.Of(request, message, span));
            }
            else
            {
                driver._journal?.Add(JournalEntry.Failed(request, answer.IsFinal, span));
            }
            meter.Payment(
                phase, new Outcome(answer.Error, answer.Message?.Outcome == PaymentOutcome.Declined),
                due, span.EndedUnixUs);
            if (isMeasured)
            {
                driver.Observe?.Invoke(request, answer, span with { BeganUnixUs = due });
            }
            return answer.Message;
        }

        public async Task CheckAsync(IRequestChannel channel, CheckBalanceRequest request, int phase, long due)
        {
            var began = driver._clock.Now;
            var answer = await channel.CheckAsync(request);
            var span = driver._clock.Since(began);
            if (answer.Message is { } message)
            {
                Interlocked.Increment(ref driver._balancesAnswered);
                driver._journal?.Add(JournalEntry.Of(request, message, span));
            }
            meter.Balance(phase, new Outcome(answer.Error, IsDeclined: false), due, span.EndedUnixUs);
        }

        /// <summary>Sends all of a life's requests, to the first without an answer. At the end the payment must show
        /// the sum of the answers, and its notes.</summary>
        public async Task LiveAsync(IRequestChannel channel, PaymentLife life, int phase, long due)
        {
            var stream = StreamId.For(life.Payment.PaymentType, life.Payment.AccountId);
            decimal? charged = life.Hold is null
                ? await PayAsync(channel, life.Payment, phase, due) is { Outcome: PaymentOutcome.Accepted }
                    ? WireAmount.Of(life.Payment.Amount)
                    : null
                : await AskAsync(
                    FollowUps.Authorisations, (client, token) => client.SendAsync(life.Hold, token),
                    due) is { IsDeclined: false }
                ? await SumAsync(
                    [
                        .. life.Captures.Select(capture =>
                            AskAsync(FollowUps.Captures, (client, token) => client.SendAsync(capture, token))),
                        .. life.Voiding is null ? [] : new[]
                        {
                            AskAsync(FollowUps.Voids, (client, token) => client.SendAsync(life.Voiding, token)),
                        },
                    ])
                : null;
            if (charged is not null
                && await SumAsync(
                    [
                        .. life.Refunds.Select(
                            refund => AskAsync(FollowUps.Refunds, (client, token) => client.SendAsync(refund, token))),
                    ])
                    is { } refunded)
            {
                await LookUpAsync(channel, life.Payment, charged.Value, refunded, phase);
            }

            async Task<FollowUpAnswer?> AskAsync(
                string kind, Func<BillingClient, CancellationToken, Task<FollowUpAnswer>> call, long? due = null)
            {
                var began = driver._clock.Now;
                var answer = await channel.AskAsync(call, isRepeatable: true);
                var span = driver._clock.Since(began);
                if (answer.Message is { Balance: not null } message)
                {
                    Interlocked.Increment(ref driver._balancesAnswered);
                    driver._journal?.Add(JournalEntry.Of(stream, message.Balance, message.Version, span));
                }
                meter.FollowUp(
                    kind, phase, new Outcome(answer.Error, answer.Message is { IsDeclined: true }),
                    due ?? began, span.EndedUnixUs);
                return answer.Message;
            }
        }

        private async Task LookUpAsync(
            IRequestChannel channel, MakePaymentRequest payment, decimal charged, decimal refunded, int phase)
        {
            var request = payment.LookUp();
            var began = driver._clock.Now;
            var answer = await channel.AskAsync(
                (client, token) => client.GetTransactionAsync(request, token), isRepeatable: false);
            var found = answer.Message;
            var error = found is null ? answer.Error
                : (WireAmount.Of(found.Payment?.Charged), WireAmount.Of(found.Payment?.Refunded)) != (charged, refunded)
                ? string.Create(
                    CultureInfo.InvariantCulture,
                    $"answers say {charged} captured and {refunded} given back; found is {found}")
                : !Equals(Notes.Of(found.Entry.Notes), Notes.Of(payment.Notes))
                ? $"sent with {payment.Notes}; found is {found}"
                : "";
            meter.FollowUp(FollowUps.LookUps, phase, new Outcome(error, IsDeclined: false), began, driver._clock.Now);
        }

        // Null if one of them has no answer.
        private static async Task<decimal?> SumAsync(IReadOnlyList<Task<FollowUpAnswer?>> requests)
        {
            var answers = await Task.WhenAll(requests);
            return answers.Contains(null) ? null : answers.Sum(answer => answer!.Amount);
        }
    }
}
