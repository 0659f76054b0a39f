using System.Threading.Channels;
using Billing.Backends.CardNetwork;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Messaging;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using Microsoft.Extensions.Options;
using Polly;

namespace Billing.Backends.Balances;

/// <summary>The read side: balance checks in, balances out. All enquiries wait for the card network at the same time;
/// whatever is ready together is read together.</summary>
public sealed partial class BalanceProcessor : BackgroundService, ICommandHandler
{
    private readonly Channel<Delivery> _ready =
        Channel.CreateUnbounded<Delivery>(new UnboundedChannelOptions { SingleReader = true });

    private readonly AccountStore _store;
    private readonly SimulatedCardNetwork _network;
    private readonly AnswerSettler _settler;
    private readonly TimeProvider _time;
    private readonly ILogger<BalanceProcessor> _logger;
    private readonly int _batchMax;
    private readonly Account _opened;
    private readonly ResiliencePipeline _retry;

    /// <summary>Creates the processor.</summary>
    public BalanceProcessor(
        AccountStore store, SimulatedCardNetwork network, AnswerSettler settler, IOptions<BackendOptions> options,
        TimeProvider time, ILogger<BalanceProcessor> logger)
    {
        _store = store;
        _network = network;
        _settler = settler;
        _time = time;
        _logger = logger;
        _batchMax = options.Value.BatchMax;
        _opened = Account.Opened(options.Value.DefaultCreditLimit);
        _retry = EventStoreRetry.Briefly(time, (e, attempt) => Waiting(attempt, e.Message));
    }

    /// <inheritdoc/>
    public int InFlight => _settler.InFlight;

    /// <inheritdoc/>
    public void Accept(IReadOnlyList<Delivery> deliveries)
    {
        _settler.Enter(deliveries.Count);
        foreach (var delivery in deliveries)
        {
            _ = EnquireAsync(delivery);
        }
    }

    /// <summary>Nothing to forget: every answer is read from the event store.</summary>
    public void Forget(IReadOnlyCollection<SourcePartition> partitions)
    {
    }

    /// <inheritdoc/>
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        while (await _ready.Reader.WaitToReadAsync(stoppingToken))
        {
            var batch = new List<Delivery>();
            while (batch.Count < _batchMax && _ready.Reader.TryRead(out var delivery))
            {
                batch.Add(delivery);
            }
            _settler.Settle(await AnswerAsync(batch, stoppingToken), []);
        }
    }

    private async Task EnquireAsync(Delivery delivery)
    {
        await _network.EnquireAsync(CancellationToken.None);
        _ready.Writer.TryWrite(delivery);
    }

    private async Task<List<(Delivery, Reply?)>> AnswerAsync(List<Delivery> batch, CancellationToken cancellationToken)
    {
        try
        {
            var streamIds = batch.Select(d => Stream(d.Command)).Distinct(StringComparer.Ordinal).ToArray();
            var accounts = await _retry.ExecuteAsync(
                async token => await _store.LoadAsync(streamIds, _opened, token), cancellationToken);
            var asOf = _time.GetUtcNow().ToTimestamp();
            return batch.ConvertAll<(Delivery, Reply?)>(d => (d, Answer(d.Command, accounts[Stream(d.Command)], asOf)));
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            Failed(e, batch.Count);
            return batch.ConvertAll<(Delivery, Reply?)>(d => (d, Replies.Error(d.Command.CorrelationId, StatusCode.Unavailable,
                ErrorReasons.EventStoreUnavailable, "The event store cannot be read at the moment.")));
        }
    }

    private static string Stream(Command command) =>
        StreamId.For(command.Balance.PaymentType, command.Balance.AccountId);

    private static Reply Answer(Command command, Account account, Timestamp asOf) => new()
    {
        CorrelationId = command.CorrelationId,
        Balance = new CheckBalanceResponse
        {
            Balance = account.Balance.ToMoney(account.Currency ?? ""),
            Available = account.Available.ToMoney(account.Currency ?? ""),
            Version = account.Version,
            AsOf = asOf,
        },
    };

    [LoggerMessage(230, LogLevel.Warning, "Accounts could not be read, attempt {Attempt}: {Reason}")]
    private partial void Waiting(int attempt, string reason);

    [LoggerMessage(231, LogLevel.Error, "{Count} balance checks could not be answered")]
    private partial void Failed(Exception e, int count);
}
