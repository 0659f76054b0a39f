using Billing.Backends.Domain;
using Billing.Wire.V1;

namespace Billing.Backends.Writes;

/// <summary>The kinds of requests on the write side, and of the events that record them.</summary>
internal static class WriteKinds
{
    private static readonly Dictionary<Command.RequestOneofCase, WriteKind> ByField =
        new WriteKind[]
        {
            new PaymentWrite(), new PaymentStatusWrite(), new CreditLimitWrite(), new AccountStatusWrite(),
            new RefundWrite(), new AuthorisationWrite(), new CaptureWrite(),
            new VoidWrite(), new ExpiryWrite(),
        }.ToDictionary(kind => kind.Field);

    public static IReadOnlyList<EventKind> Events { get; } = [.. ByField.Values.SelectMany(kind => kind.Events)];

    private static readonly Dictionary<Event.FactOneofCase, EventKind> EventsByField = Events.ToDictionary(
        kind => kind.Field);

    private static readonly Dictionary<Type, EventKind> EventsByShape = Events.ToDictionary(kind => kind.Shape);

    /// <summary>The kind of a command.</summary>
    /// <exception cref="ArgumentException">The command does not belong to the write side.</exception>
    public static WriteKind Of(Command command) => ByField.GetValueOrDefault(command.RequestCase)
        ?? throw new ArgumentException($"A {command.RequestCase} changes no account.", nameof(command));

    /// <summary>The kind of a wire event; null if this program does not know it.</summary>
    public static EventKind? Of(Event recorded) => EventsByField.GetValueOrDefault(recorded.FactCase);

    /// <summary>The kind of a domain event.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The wire contract has no such event.</exception>
    public static EventKind Of(AccountEvent fact) => EventsByShape.GetValueOrDefault(fact.GetType())
        ?? throw new ArgumentOutOfRangeException(nameof(fact), fact, "The wire contract has no such event.");
}
