using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Messaging.Requests;

/// <summary>A kind of request that a command can contain: how it is checked and routed, and how it is written to a command and read
/// from one. What a backend does with it is defined by the write side or the read side.</summary>
public abstract class RequestKind
{
    /// <summary>Whether it goes to the write side: it changes an account, or has to be processed after what does.</summary>
    public bool IsWrite { get; init; }

    /// <summary>Whether a reply is sent to it.</summary>
    public bool IsAnswered { get; init; } = true;

    internal abstract CommandRoute RouteOf(Command command);

    /// <summary>Why a command with a request of this kind must not be processed, on any transport; null if it is valid.</summary>
    internal abstract string? Refusal(Command command);

    internal abstract IMessage BodyOf(Command command);

    internal abstract void Write(Command command, IMessage request);
}

/// <summary>A kind of request, with the types of its request and of the answer.</summary>
/// <typeparam name="TRequest">The request.</typeparam>
/// <typeparam name="TAnswer">The answer to it.</typeparam>
public sealed class RequestKind<TRequest, TAnswer> : RequestKind
    where TRequest : class, IMessage<TRequest>
    where TAnswer : class
{
    /// <summary>The first rule that a caller's request breaks, or null.</summary>
    public required Func<TRequest, FieldViolation?> Check { get; init; }

    /// <summary>The first rule that a request in a command breaks, or null; without it, the rules are those for callers.</summary>
    public Func<TRequest, FieldViolation?>? CheckCommand { get; init; }

    /// <summary>Copies a request that was checked, with the fields of the contract and no others. Unknown fields that a caller adds
    /// would otherwise be published, and be kept and stored by everything behind the proxy. Each kind names its fields, because protobuf
    /// drops unknown fields only while it parses, and a clone keeps them.</summary>
    public required Func<TRequest, TRequest> KnownFields { get; init; }

    /// <summary>The account of a request that was checked.</summary>
    public required Func<TRequest, (PaymentType Type, string Id)> AccountOf { get; init; }

    /// <summary>The transaction id of a request that was checked; null if requests of this kind have none.</summary>
    public Func<TRequest, string?> TransactionIdOf { get; init; } = _ => null;

    /// <summary>The path of the transaction id in a command.</summary>
    public string TransactionIdField { get; init; } = "";

    /// <summary>The request in a command.</summary>
    public required Func<Command, TRequest> RequestIn { get; init; }

    /// <summary>Writes a request to a command.</summary>
    public required Action<Command, TRequest> WriteTo { get; init; }

    /// <summary>The answer in a reply; null if the reply is of another kind.</summary>
    public required Func<Reply, TAnswer?> AnswerIn { get; init; }

    /// <summary>Why an answer is none to the request, as the end of "a backend answered ..."; null if it is one.</summary>
    public Func<TRequest, TAnswer, string?> ProblemOf { get; init; } = (_, _) => null;

    internal CommandRoute RouteOf(TRequest request)
    {
        var (type, id) = AccountOf(request);
        return new CommandRoute(IsWrite, type, id);
    }

    internal override CommandRoute RouteOf(Command command) => RouteOf(RequestIn(command));

    internal override string? Refusal(Command command)
    {
        var request = RequestIn(command);
        return (CheckCommand ?? Check)(request)?.ToString()
            ?? (TransactionIdOf(request) is { } id && id != command.TransactionId ? TransactionIdField + " is not the command's transaction_id" : null);
    }

    internal override IMessage BodyOf(Command command) => RequestIn(command);

    internal override void Write(Command command, IMessage request) => WriteTo(command, (TRequest)request);
}
