using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Messaging.Requests;

/// <summary>A kind of request that a command can contain: how it is checked and routed, and how it is written to a command and read
/// from one. What a backend does with it is defined by the write side or the read side.</summary>
public abstract class RequestKind
{
    /// <summary>The field of a command that contains a request of this kind.</summary>
    public abstract Command.RequestOneofCase Field { get; }

    /// <summary>Whether it goes to the write side: it changes an account, or has to be processed after what does.</summary>
    public abstract bool IsWrite { get; }

    /// <summary>The route of a command with a request of this kind.</summary>
    internal abstract CommandRoute RouteOf(Command command);

    /// <summary>Why a command with a request of this kind must not be processed, on any transport; null if it is valid.</summary>
    internal abstract string? Refusal(Command command);

    /// <summary>The request of this kind in a command.</summary>
    internal abstract IMessage BodyOf(Command command);

    /// <summary>Writes a request of this kind to a command.</summary>
    internal abstract void Write(Command command, IMessage request);
}

/// <summary>A kind of request, with the types of its request and of the answer.</summary>
/// <typeparam name="TRequest">The request.</typeparam>
/// <typeparam name="TAnswer">The answer to it.</typeparam>
public abstract class RequestKind<TRequest, TAnswer> : RequestKind
    where TRequest : class, IMessage<TRequest>
    where TAnswer : class
{
    /// <summary>The first rule that a request breaks, or null.</summary>
    public abstract FieldViolation? Check(TRequest request);

    /// <summary>Copies a request that was checked, with the fields of the contract and no others. Unknown fields that a caller adds
    /// would otherwise be published, and be kept and stored by everything behind the proxy.</summary>
    public abstract TRequest KnownFields(TRequest request);

    /// <summary>The account of a request.</summary>
    public abstract (PaymentType Type, string Id) AccountOf(TRequest request);

    /// <summary>The transaction id of a request; null if requests of this kind have none.</summary>
    public virtual string? TransactionIdOf(TRequest request) => null;

    /// <summary>The answer in a reply; null if the reply is of another kind.</summary>
    public abstract TAnswer? AnswerIn(Reply reply);

    /// <summary>Why an answer is none to the request, as the end of "a backend answered ..."; null if it is one.</summary>
    public virtual string? ProblemOf(TRequest request, TAnswer answer) => null;

    /// <summary>The request in a command.</summary>
    protected abstract TRequest RequestIn(Command command);

    /// <summary>Writes a request to a command.</summary>
    protected abstract void Write(Command command, TRequest request);

    /// <summary>Copies an amount with the fields of the contract.</summary>
    protected static Money Known(Money money) => new() { CurrencyCode = money.CurrencyCode, Units = money.Units, Nanos = money.Nanos };

    /// <summary>The path of the request's transaction id in a command.</summary>
    protected virtual string TransactionIdField => "transaction_id";

    /// <summary>The route of a request.</summary>
    internal CommandRoute RouteOf(TRequest request)
    {
        var (type, id) = AccountOf(request);
        return new CommandRoute(IsWrite, type, id);
    }

    internal override CommandRoute RouteOf(Command command) => RouteOf(RequestIn(command));

    internal override string? Refusal(Command command)
    {
        var request = RequestIn(command);
        return TransactionIdOf(request) is { } id && id != command.TransactionId
            ? TransactionIdField + " is not the command's transaction_id"
            : Check(request)?.ToString();
    }

    internal override IMessage BodyOf(Command command) => RequestIn(command);

    internal override void Write(Command command, IMessage request) => Write(command, (TRequest)request);
}
