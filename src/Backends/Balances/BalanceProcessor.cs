using System.Globalization;
using System.Threading.Channels;
using Billing.Backends.CardNetwork;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
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

/// <summary>The read side: answers balance checks. All card-network enquiries run concurrently; the checks that are ready at the
/// same time are answered together, from the view. A check for a version that the view has not reached waits without holding
/// up the others; if the version does not arrive in time, the event store is read, once for all such checks.
/// </summary>
public sealed partial class BalanceProcessor : Worker, ICommandHandler
{
    private readonly Channel<Delivery> _ready =
        Channel.CreateUnbounded<Delivery>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Channel<Delivery> _ahead =
        Channel.CreateUnbounded<Delivery>(new UnboundedChannelOptions { SingleReader = true });

    private readonly BalanceView _view;
    private readonly IAccountStore _store;
    private readonly StatementProcessor _statements;
    private readonly SimulatedCardNetwork _network;
    private readonly Replier _replier;
    private readonly TimeProvider _time;
    private readonly ILogger<BalanceProcessor> _logger;
    private readonly int _batchMax;
    private readonly TimeSpan _minVersionWait;
    private readonly Account _opened;
    private readonly Supervisor _supervisor;
    private readonly EventStoreRetry.Retries _retry;

    /// <summary>Creates the processor.</summary>
    public BalanceProcessor(
        BalanceView view, IAccountStore store, IStatementReader statements, SimulatedCardNetwork network, Replier replier,
        EventStoreRetry retry, IOptions<BackendOptions> options, Supervisor supervisor, TimeProvider time,
        ILogger<BalanceProcessor> logger)
        : base(supervisor)
    {
        _view = view;
        _store = store;
        _statements = new StatementProcessor(statements, replier, retry, time, logger);
        _network = network;
        _replier = replier;
        _time = time;
        _logger = logger;
        _batchMax = options.Value.BatchMax;
        _minVersionWait = options.Value.MinVersionWait;
        _opened = Account.Opened(options.Value.DefaultCreditLimit);
        _supervisor = supervisor;
        _retry = retry.Limited((e, attempt) => Waiting(attempt, e.Message));
    }

    /// <inheritdoc/>
    public int InFlight => _replier.InFlight;

    /// <inheritdoc/>
    public void Accept(IReadOnlyList<Delivery> deliveries)
    {
        _replier.Enter(deliveries.Count);
        foreach (var delivery in deliveries)
        {
            if (delivery.Command.RequestCase == Command.RequestOneofCase.Statement)
            {
                _statements.Accept(delivery);
            }
            else
            {
                _supervisor.Watch("Enquiring", EnquireAsync(delivery));
            }
        }
    }

    /// <summary>Does nothing: the view holds all accounts, whichever partitions are assigned.</summary>
    public void RemoveCached(IReadOnlyCollection<SourcePartition> partitions)
    {
    }

    /// <inheritdoc/>
    public override async Task RunAsync(CancellationToken stopping)
    {
        // None of these ends by itself: the first one to end was cancelled or has failed, and ends this worker likewise.
        var first = await Task.WhenAny(
            AnswerAsync(_ready, FromView, stopping),
            AnswerAsync(_ahead, batch => FromStoreAsync(batch, stopping), stopping),
            _statements.RunAsync(stopping));
        await first;
    }

    private async Task EnquireAsync(Delivery delivery)
    {
        await _network.EnquireAsync(CancellationToken.None);
        _ready.Writer.TryWrite(delivery);
    }

    private async Task AnswerAsync(
        Channel<Delivery> queue, Func<List<Delivery>, ValueTask<List<(Delivery, Reply?)>>> answer,
        CancellationToken cancellationToken)
    {
        while (await queue.Reader.WaitToReadAsync(cancellationToken))
        {
            var batch = new List<Delivery>();
            while (batch.Count < _batchMax && queue.Reader.TryRead(out var delivery))
            {
                batch.Add(delivery);
            }
            if (await answer(batch) is { Count: > 0 } answered)
            {
                _replier.Publish(answered, []);
            }
        }
    }

    private ValueTask<List<(Delivery, Reply?)>> FromView(List<Delivery> batch)
    {
        var answered = new List<(Delivery, Reply?)>(batch.Count);
        var now = _time.GetUtcNow();
        var (nowUnixUs, asOf) = (UnixTime.Microseconds(now), now.ToTimestamp());
        foreach (var delivery in batch)
        {
            var command = delivery.Command;
            if (Expiry.IsExpired(command, nowUnixUs))
            {
                answered.Add((delivery, Expiry.Reply(command)));
            }
            else if (_view.Get(Stream(command)) is var account && account.Version >= command.Balance.MinVersion)
            {
                answered.Add((delivery, Answer(command, account, asOf)));
            }
            else
            {
                _supervisor.Watch("Waiting for the view", WaitForViewAsync(delivery, nowUnixUs));
            }
        }
        return ValueTask.FromResult(answered);
    }

    private async Task WaitForViewAsync(Delivery delivery, long nowUnixUs)
    {
        var command = delivery.Command;
        var wait = _minVersionWait;
        // At most half of the time left, so that there is time to read the event store. In microseconds, because a deadline
        // may be further away than a TimeSpan can express.
        var halfLeftUs = (command.DeadlineUnixUs - nowUnixUs) / 2;
        if (command.DeadlineUnixUs != 0 && halfLeftUs < wait.TotalMicroseconds)
        {
            wait = TimeSpan.FromMicroseconds(halfLeftUs);
        }
        var reached = await _view.WaitAsync(Stream(command), command.Balance.MinVersion, wait);
        (reached ? _ready : _ahead).Writer.TryWrite(delivery);
    }

    private async ValueTask<List<(Delivery, Reply?)>> FromStoreAsync(List<Delivery> batch, CancellationToken cancellationToken)
    {
        try
        {
            // Taken before the read, so that what is read is at least this recent.
            var asOf = _time.GetUtcNow();
            var streamIds = batch.Select(d => Stream(d.Command)).Distinct(StringComparer.Ordinal).ToArray();
            var accounts = await _retry.ExecuteAsync(
                async token => await _store.LoadAsync(streamIds, _opened, token), cancellationToken);
            foreach (var (streamId, account) in accounts)
            {
                _view.Put(streamId, account);
            }
            return batch.ConvertAll<(Delivery, Reply?)>(d => (d, FromStore(d.Command, accounts[Stream(d.Command)], asOf)));
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            Failed(e, batch.Count);
            return batch.ConvertAll<(Delivery, Reply?)>(d => (d, Replies.StoreUnavailable(d.Command.CorrelationId)));
        }
    }

    private static Reply FromStore(Command command, Account account, DateTimeOffset asOf) =>
        account.Version >= command.Balance.MinVersion
            ? Answer(command, account, asOf.ToTimestamp())
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
            Version = account.Version,
            AsOf = asOf,
        },
    };

    [LoggerMessage(230, LogLevel.Warning, "Accounts could not be read, attempt {Attempt}: {Reason}")]
    private partial void Waiting(int attempt, string reason);

    [LoggerMessage(231, LogLevel.Error, "{Count} balance checks could not be answered")]
    private partial void Failed(Exception e, int count);
}
