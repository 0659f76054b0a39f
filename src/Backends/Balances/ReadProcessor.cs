using Billing.Backends.CardNetwork;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Balances;

/// <summary>Answers one kind of requests that read accounts.</summary>
internal interface IReadKind
{
    Command.RequestOneofCase Field { get; }

    /// <summary>Takes a request. Never blocks.</summary>
    void Accept(Delivery delivery);

    /// <summary>Answers until it is cancelled.</summary>
    Task RunAsync(CancellationToken stopping);
}

/// <summary>The read side: passes each request to its kind.</summary>
internal sealed class ReadProcessor : Worker, ICommandHandler
{
    private readonly Replier _replier;
    private readonly Dictionary<Command.RequestOneofCase, IReadKind> _kinds;

    /// <param name="view">The view of the balances.</param>
    /// <param name="map">The databases.</param>
    /// <param name="databases">What the kinds are answered from, in the order of the map.</param>
    /// <param name="network">What a check of a balance asks.</param>
    /// <param name="replier">Gets the answers.</param>
    /// <param name="retry">Tries reads again.</param>
    /// <param name="options">The settings.</param>
    /// <param name="supervisor">Watches what runs.</param>
    /// <param name="time">The clock.</param>
    /// <param name="log">Makes the loggers.</param>
    public ReadProcessor(
        BalanceView view, ShardMap map, IReadOnlyList<ReadDatabase> databases,
        SimulatedCardNetwork network, Replier replier, EventStoreRetry retry,
        IOptions<BackendOptions> options, Supervisor supervisor, TimeProvider time, ILoggerFactory log)
        : base(supervisor)
    {
        _replier = replier;
        _kinds = Complete(
        [
            new BalanceProcessor(
                view, map, network, replier, retry, options, supervisor, time, log.CreateLogger<BalanceProcessor>()),
            .. StoredReadKinds.All.Select(kind => new StoredReads(
                kind.Field, (database, command, token) => kind.Read(databases[database], command, token),
                Math.Max(1, options.Value.StoredAnswersMax / StoredReadKinds.Count), map, replier, retry, time,
                log.CreateLogger<StoredReads>())),
        ]);
    }

    public int InFlight => _replier.InFlight;

    public void Accept(IReadOnlyList<Delivery> deliveries)
    {
        _replier.Enter(deliveries.Count);
        foreach (var delivery in deliveries)
        {
            _kinds[delivery.Command.RequestCase].Accept(delivery);
        }
    }

    // None of these ends by itself: the first one to end was cancelled or has failed, and ends this worker likewise.
    public override async Task RunAsync(CancellationToken stopping) =>
        await await Task.WhenAny(_kinds.Values.Select(kind => kind.RunAsync(stopping)));

    // A request that no kind answers would end the backend when it comes.
    private static Dictionary<Command.RequestOneofCase, IReadKind> Complete(IEnumerable<IReadKind> kinds)
    {
        var byField = kinds.ToDictionary(kind => kind.Field);
        return RequestKinds.All.FirstOrDefault(kind => !kind.IsWrite && !byField.ContainsKey(kind.Field)) is { } missing
            ? throw new ArgumentException($"Nothing answers requests of the kind {missing.Field}.", nameof(kinds))
            : byField;
    }
}

/// <summary>Requests whose deadline has passed: they are answered, so that their deliveries are settled,
/// but not processed.</summary>
internal static class ReadDeadline
{
    public static bool HasPassed(Delivery delivery, long nowUnixUs) =>
        delivery.DeadlineUnixUs != 0 && delivery.DeadlineUnixUs <= nowUnixUs;

    public static Reply Reply(Command command) => Replies.Error(
        command.CorrelationId, StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired,
        "The deadline passed before the account was read.");
}
