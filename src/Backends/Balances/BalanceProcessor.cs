using System.Globalization;
using System.Threading.Channels;
using Billing.Backends.CardNetwork;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Telemetry;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Balances;

/// <summary>Answers balance checks. All card-network enquiries run concurrently; the checks that are ready at the
/// same time are answered together, from the view. A check for a version that the view has not reached waits without
/// holding up the others; if the version does not arrive in time, or the view does not know the account, the event
/// store is read, once for all such checks.</summary>
internal sealed partial class BalanceProcessor(
    BalanceView view, ShardMap map, SimulatedCardNetwork network, Replier replier, EventStoreRetry retry,
    IOptions<BackendOptions> options, Supervisor supervisor,
    TimeProvider time, ILogger<BalanceProcessor> logger) : IReadKind
{
    private readonly Channel<Delivery> _ready =
        Channel.CreateUnbounded<Delivery>(new UnboundedChannelOptions { SingleReader = true });

    // One for each database, and one for accounts in none: one that is away holds up no others.
    private readonly Channel<Delivery>[] _unknown =
    [
        .. Enumerable.Range(0, map.Databases.Count + 1)
            .Select(_ => Channel.CreateUnbounded<Delivery>(new UnboundedChannelOptions { SingleReader = true })),
    ];

    private readonly ShardedReader _reader = new(map);
    private readonly BackendOptions _options = options.Value;
    private readonly EventStoreRetry.Retries _retry = retry.Limited(
        (e, attempt) => Waiting(logger, attempt, e.Message));

    public Command.RequestOneofCase Field => Command.RequestOneofCase.Balance;

    public void Accept(Delivery delivery) => supervisor.Watch("Enquiring", EnquireAsync(delivery));

    // None of these ends by itself: the first one to end was cancelled or has failed.
    public async Task RunAsync(CancellationToken stopping) => await await Task.WhenAny(
        [
            AnswerAsync(_ready, FromView, stopping),
            .. _unknown.Select(queue => AnswerAsync(queue, batch => FromStoreAsync(batch, stopping), stopping)),
        ]);

    private async Task EnquireAsync(Delivery delivery)
    {
        await network.EnquireAsync(CancellationToken.None);
        _ready.Writer.TryWrite(delivery);
    }

    private async Task AnswerAsync(
        Channel<Delivery> queue, Func<List<Delivery>, ValueTask<List<(Delivery, Reply?)>>> answer,
        CancellationToken cancellationToken)
    {
        while (await queue.Reader.WaitToReadAsync(cancellationToken))
        {
            var batch = new List<Delivery>();
            while (batch.Count < _options.BatchMax && queue.Reader.TryRead(out var delivery))
            {
                batch.Add(delivery);
            }
            if (await answer(batch) is { Count: > 0 } answered)
            {
                replier.Publish(answered, []);
            }
        }
    }

    private ValueTask<List<(Delivery, Reply?)>> FromView(List<Delivery> batch)
    {
        var answered = new List<(Delivery, Reply?)>(batch.Count);
        var nowUnixUs = time.Microseconds();
        var asOf = UnixTime.FromMicroseconds(nowUnixUs).ToTimestamp();
        foreach (var delivery in batch)
        {
            var command = delivery.Command;
            if (ReadDeadline.HasPassed(delivery, nowUnixUs))
            {
                answered.Add((delivery, ReadDeadline.Reply(command)));
            }
            else if (view.Find(Stream(command)) is not { } account)
            {
                BackendMetrics.ViewMisses.Add(1);
                ReadLater(delivery);
            }
            else if (account.Version >= command.Balance.MinVersion)
            {
                answered.Add((delivery, Answer(command, account, asOf)));
            }
            else
            {
                supervisor.Watch("Waiting for the view", WaitForViewAsync(delivery, nowUnixUs));
            }
        }
        return ValueTask.FromResult(answered);
    }

    private async Task WaitForViewAsync(Delivery delivery, long nowUnixUs)
    {
        var command = delivery.Command;
        var wait = _options.MinVersionWait;
        // At most half of the time left, so that there is time to read the event store. In microseconds,
        // because a deadline may be further away than a TimeSpan can express.
        var halfLeftUs = (delivery.DeadlineUnixUs - nowUnixUs) / 2;
        if (delivery.DeadlineUnixUs != 0 && halfLeftUs < wait.TotalMicroseconds)
        {
            wait = TimeSpan.FromMicroseconds(halfLeftUs);
        }
        var reached = await view.WaitAsync(Stream(command), command.Balance.MinVersion, wait);
        if (reached)
        {
            _ready.Writer.TryWrite(delivery);
        }
        else
        {
            ReadLater(delivery);
        }
    }

    private void ReadLater(Delivery delivery)
    {
        var database = map.Find(Shard.Of(Stream(delivery.Command)));
        _unknown[database == ShardMap.Nowhere ? map.Databases.Count : database].Writer.TryWrite(delivery);
    }

    private async ValueTask<List<(Delivery, Reply?)>> FromStoreAsync(
        List<Delivery> batch, CancellationToken cancellationToken)
    {
        try
        {
            // Taken before the read, so that what is read is at least this recent.
            var asOf = UnixTime.FromMicroseconds(time.Microseconds()).ToTimestamp();
            var streamIds = batch.Select(d => Stream(d.Command)).Distinct(StringComparer.Ordinal).ToArray();
            var accounts = await _retry.ExecuteAsync(
                async token => await view.ReadAsync(_reader, streamIds, token), cancellationToken);
            return batch.ConvertAll<(Delivery, Reply?)>(
                d => (d, FromStore(d.Command, accounts[Stream(d.Command)], asOf)));
        }
        catch (Exception e)
            when (!cancellationToken.IsCancellationRequested && batch.Count > 1 && EventStoreFailure.IsOfSomeRows(e))
        {
            // One account cannot be read, and must not keep the others from it.
            var half = batch.Count / 2;
            return
            [
                .. await FromStoreAsync(batch[..half], cancellationToken),
                .. await FromStoreAsync(batch[half..], cancellationToken),
            ];
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            Failed(e, batch.Count);
            return batch.ConvertAll<(Delivery, Reply?)>(d => (d, Replies.StoreUnavailable(d.Command.CorrelationId)));
        }
    }

    private static Reply FromStore(Command command, Account account, Timestamp asOf) =>
        account.Version >= command.Balance.MinVersion
            ? Answer(command, account, asOf)
            : Replies.Error(command.CorrelationId, StatusCode.OutOfRange, ErrorReasons.VersionNotReached,
                string.Create(CultureInfo.InvariantCulture,
                    $"min_version is {command.Balance.MinVersion}; the account is at version {account.Version}."),
                "min_version");

    private static string Stream(Command command) => CommandRoute.Of(command).StreamId;

    private static Reply Answer(Command command, Account account, Timestamp asOf) => new()
    {
        CorrelationId = command.CorrelationId,
        Balance = new CheckBalanceResponse
        {
            Balance = account.Balance.ToMoney(account.Currency ?? ""),
            Available = account.Available.ToMoney(account.Currency ?? ""),
            CreditLimit = account.CreditLimit.ToMoney(account.Currency ?? ""),
            OnHold = account.OnHold.ToMoney(account.Currency ?? ""),
            AccountStatus = account.Status,
            Version = account.Version,
            ReadTime = asOf,
        },
    };

    [LoggerMessage(230, LogLevel.Warning, "Accounts could not be read, attempt {Attempt}: {Reason}")]
    private static partial void Waiting(ILogger logger, int attempt, string reason);

    [LoggerMessage(231, LogLevel.Error, "{Count} balance checks could not be answered")]
    private partial void Failed(Exception e, int count);
}
