using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace Billing.Messaging.Requests;

/// <summary>A kind of request that a command can contain: how it is checked and routed, and how it is written to a
/// command and read from one. What a backend does with it is defined by the write side or the read side.</summary>
public abstract class RequestKind
{
    /// <summary>The member of a command that holds a request of this kind.</summary>
    public required Command.RequestOneofCase Field { get; init; }

    /// <summary>The scope that its callers need, one of <see cref="Scopes"/>; null if only the platform sends it.
    /// </summary>
    public required string? Scope { get; init; }

    /// <summary>The message by which callers send it: that of the command, unless the proxy makes another one of it.
    /// </summary>
    public MessageDescriptor CallersRequest { get => field ?? FieldDescriptor.MessageType; init; }

    /// <summary>Whether it goes to the write side: it changes an account, or has to be
    /// processed after what does.</summary>
    public bool IsWrite { get; init; }

    /// <summary>Whether a reply is sent to it.</summary>
    public bool IsAnswered { get; init; } = true;

    /// <summary>The description of <see cref="Field"/>.</summary>
    protected FieldDescriptor FieldDescriptor => Command.Descriptor.FindFieldByNumber((int)Field);

    internal abstract CommandRoute RouteOf(Command command);

    /// <summary>Why a command with a request of this kind must not be processed, on any transport;
    /// null if it is valid.</summary>
    internal abstract string? Refusal(Command command);

    internal abstract IMessage BodyOf(Command command);

    internal abstract void Write(Command command, IMessage request);

    /// <summary>Whether a reply is an answer to a request of this kind: of the same kind,
    /// and with the same ids.</summary>
    internal abstract bool IsAnsweredBy(IMessage request, Reply reply);
}

/// <summary>An id that a request states and the answer to it repeats.</summary>
/// <typeparam name="TRequest">The request.</typeparam>
/// <typeparam name="TAnswer">The answer to it.</typeparam>
/// <param name="Asked">The id in a request.</param>
/// <param name="Answered">The id in an answer; null if the answer has none.</param>
/// <param name="Repeat">Writes the id to an answer that has one.</param>
public sealed record RepeatedId<TRequest, TAnswer>(
    Func<TRequest, string> Asked, Func<TAnswer, string?> Answered, Action<TAnswer, string> Repeat);

/// <summary>A kind of request, with the types of its request and of the answer.</summary>
/// <typeparam name="TRequest">The request.</typeparam>
/// <typeparam name="TAnswer">The answer to it.</typeparam>
public sealed class RequestKind<TRequest, TAnswer> : RequestKind
    where TRequest : class, IMessage<TRequest>
    where TAnswer : class
{
    /// <summary>The first rule that a caller's request breaks, or null.</summary>
    public required Func<TRequest, FieldViolation?> Check { get; init; }

    /// <summary>The first rule that a request in a command breaks, or null; without it, the rules are
    /// those for callers.</summary>
    public Func<TRequest, FieldViolation?>? CheckCommand { get; init; }

    /// <summary>Copies a request that was checked, with the fields of the contract and no others. Unknown fields that a
    /// caller adds would otherwise be published, and be kept and stored by everything behind the proxy. Each kind names
    /// its fields, because protobuf drops unknown fields only while it parses, and a clone keeps them.</summary>
    public required Func<TRequest, TRequest> KnownFields { get; init; }

    /// <summary>The account of a request that was checked.</summary>
    public required Func<TRequest, (PaymentType Type, string Id)> AccountOf { get; init; }

    /// <summary>The transaction id of a request that was checked; null if requests of this kind have none.</summary>
    public Func<TRequest, string?> TransactionIdOf { get; init; } = _ => null;

    /// <summary>The request in a command.</summary>
    public required Func<Command, TRequest> RequestIn { get; init; }

    /// <summary>Writes a request to a command.</summary>
    public required Action<Command, TRequest> WriteTo { get; init; }

    /// <summary>The answer in a reply; null if the reply is of another kind.</summary>
    public required Func<Reply, TAnswer?> AnswerIn { get; init; }

    /// <summary>The ids that answers repeat; none if answers of this kind have none.</summary>
    public required IReadOnlyList<RepeatedId<TRequest, TAnswer>> RepeatedIds { get; init; }

    /// <summary>Why an answer is none to the request, as the end of "a backend answered ...";
    /// null if it is one.</summary>
    public Func<TRequest, TAnswer, string?> ProblemOf { get; init; } = (_, _) => null;

    /// <summary>Writes the ids of an answer in the letters of the request, which may not be those that are
    /// recorded.</summary>
    /// <returns>The answer.</returns>
    public TAnswer RepeatIds(TRequest request, TAnswer answer)
    {
        for (var i = 0; i < RepeatedIds.Count; i++)
        {
            if (RepeatedIds[i].Answered(answer) is not null)
            {
                RepeatedIds[i].Repeat(answer, RepeatedIds[i].Asked(request));
            }
        }
        return answer;
    }

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
            ?? (TransactionIdOf(request) is { } id && id != command.TransactionId
                ? FieldDescriptor.Name + ".transaction_id is not the command's transaction_id"
                : null);
    }

    internal override IMessage BodyOf(Command command) => RequestIn(command);

    internal override void Write(Command command, IMessage request) => WriteTo(command, (TRequest)request);

    internal override bool IsAnsweredBy(IMessage request, Reply reply) =>
        AnswerIn(reply) is { } answer && HasIdsOf((TRequest)request, answer);

    private bool HasIdsOf(TRequest request, TAnswer answer)
    {
        for (var i = 0; i < RepeatedIds.Count; i++)
        {
            if (RepeatedIds[i].Answered(answer) is { } answered && !AreSame(RepeatedIds[i].Asked(request), answered))
            {
                return false;
            }
        }
        return true;
    }

    // A UUID may be written in upper or lower case.
    private static bool AreSame(string asked, string answered) =>
        asked == answered
        || (Guid.TryParse(asked, out var one) && Guid.TryParse(answered, out var other) && one == other);
}
