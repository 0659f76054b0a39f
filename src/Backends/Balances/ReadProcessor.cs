using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Grpc.Core;

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
internal sealed class ReadProcessor(IEnumerable<IReadKind> kinds, Replier replier, Supervisor supervisor)
    : Worker(supervisor), ICommandHandler
{
    private readonly Dictionary<Command.RequestOneofCase, IReadKind> _kinds = Complete(kinds);

    public int InFlight => replier.InFlight;

    public void Accept(IReadOnlyList<Delivery> deliveries)
    {
        replier.Enter(deliveries.Count);
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

/// <summary>Requests whose deadline has passed: they are answered, so that their deliveries are settled, but not processed.</summary>
internal static class Expiry
{
    public static bool IsExpired(Delivery delivery, long nowUnixUs) =>
        delivery.DeadlineUnixUs != 0 && delivery.DeadlineUnixUs <= nowUnixUs;

    public static Reply Reply(Command command) => Replies.Error(
        command.CorrelationId, StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired,
        "The deadline passed before the account was read.");
}
