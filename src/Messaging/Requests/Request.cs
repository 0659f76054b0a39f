using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Messaging.Requests;

/// <summary>A request on its way from a proxy to a backend. The command that carries it is written here
/// and nowhere else.</summary>
public sealed record Request
{
    private readonly IMessage _body;

    private Request(RequestKind kind, IMessage body, CommandRoute route, string transactionId) =>
        (Kind, _body, Route, TransactionId) = (kind, body, route, transactionId);

    /// <summary>The kind of the request.</summary>
    public RequestKind Kind { get; }

    /// <summary>Where it goes.</summary>
    public CommandRoute Route { get; }

    /// <summary>The transaction id, which the backend's answer repeats.</summary>
    public string TransactionId { get; }

    /// <summary>When the proxy received it, in microseconds since the Unix epoch.</summary>
    public long ReceivedUnixUs { get; init; }

    /// <summary>When its caller waits no more, in microseconds since the Unix epoch; 0 for never.</summary>
    public long DeadlineUnixUs { get; init; }

    /// <summary>When its client sent it, in microseconds since the Unix epoch, if the steps of the request are timed;
    /// null otherwise.</summary>
    public long? SentUnixUs { get; init; }

    /// <summary>Who sent it; null where callers are not authenticated.</summary>
    public Principal? Principal { get; init; }

    /// <summary>Whether its sender was told that it is queued, and waits for no answer.</summary>
    public bool IsQueued { get; init; }

    /// <summary>The partition of its topic to publish it to; null for that of its account.</summary>
    public int? Partition { get; init; }

    /// <summary>A request that was checked, without fields that are not of the contract, with the times
    /// of the properties above. <paramref name="newId"/> creates the transaction id of a request that
    /// has none of its own.</summary>
    public static Request Of<TRequest, TAnswer>(
        RequestKind<TRequest, TAnswer> kind, TRequest request, Func<string> newId, long receivedUnixUs,
        long deadlineUnixUs, long? sentUnixUs, Principal? principal)
        where TRequest : class, IMessage<TRequest>
        where TAnswer : class =>
        new(kind, kind.KnownFields(request), kind.RouteOf(request), kind.TransactionIdOf(request) ?? newId())
        {
            ReceivedUnixUs = receivedUnixUs,
            DeadlineUnixUs = deadlineUnixUs,
            SentUnixUs = sentUnixUs,
            Principal = principal,
        };

    /// <summary>The request in a valid command, for a transport that passes it on.</summary>
    public static Request Of(Command command)
    {
        var kind = RequestKinds.Of(command)
            ?? throw new ArgumentException("The command holds no request.", nameof(command));
        return new Request(kind, kind.BodyOf(command), kind.RouteOf(command), command.TransactionId)
        {
            ReceivedUnixUs = command.ReceivedUnixUs,
            DeadlineUnixUs = command.DeadlineUnixUs,
            SentUnixUs = command.Timing?.SentUnixUs,
            Principal = command.Principal,
            IsQueued = command.IsQueued,
        };
    }

    /// <summary>Whether a reply is an answer to it: of its kind, and with its ids.</summary>
    public bool IsAnsweredBy(Reply reply) => Kind.IsAnsweredBy(_body, reply);

    /// <summary>The command that carries the request.</summary>
    /// <param name="correlationId">The number by which the reply finds its call.</param>
    /// <param name="replyTopic">Where the backend publishes the reply; empty if it answers directly.</param>
    /// <param name="traceParent">The span to continue, if the transport has no other place for it.</param>
    public Command ToCommand(ulong correlationId = 0, string replyTopic = "", string traceParent = "")
    {
        var command = new Command
        {
            CorrelationId = correlationId,
            ProxyTopic = replyTopic,
            TransactionId = TransactionId,
            ReceivedUnixUs = ReceivedUnixUs,
            DeadlineUnixUs = DeadlineUnixUs,
            TraceParent = traceParent,
            Principal = Principal,
            IsQueued = IsQueued,
            Timing = SentUnixUs is { } sent ? new Timing { SentUnixUs = sent } : null,
        };
        Kind.Write(command, _body);
        return command;
    }
}

/// <summary>The destination of a command: commands that change an account go to the write side, queries to the read
/// side, both by the account's payment type and id. A query for the status of a payment goes to the write side, so that
/// it is processed after that payment.</summary>
public readonly record struct CommandRoute(bool IsWrite, PaymentType PaymentType, string AccountId)
{
    /// <summary>The route of a command.</summary>
    /// <exception cref="ArgumentException">The command holds no request.</exception>
    public static CommandRoute Of(Command command)
    {
        var kind = RequestKinds.Of(command)
            ?? throw new ArgumentException("The command holds no request.", nameof(command));
        return kind.RouteOf(command);
    }

    /// <summary>The account's event stream.</summary>
    public string StreamId => Contracts.StreamId.For(PaymentType, AccountId);
}
