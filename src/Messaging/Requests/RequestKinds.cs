using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.Reflection;
using Google.Protobuf.WellKnownTypes;
using Enum = System.Enum;

namespace Billing.Messaging.Requests;

/// <summary>The kinds of requests: one entry each, which says all that proxies and transports know of it.
/// What the backends know is in an entry of their own for each kind (docs/kinds.md).</summary>
public static partial class RequestKinds
{
    /// <summary>All kinds.</summary>
    public static IEnumerable<RequestKind> All =>
        Enum.GetValues<Command.RequestOneofCase>().Select(Of).OfType<RequestKind>();

    /// <summary>The kind of a command's request; null if it contains none.</summary>
    public static RequestKind? Of(Command command) => Of(command.RequestCase);

    /// <summary>The kind of a request that callers send.</summary>
    /// <param name="request">Its message.</param>
    /// <exception cref="ArgumentException">Callers cannot send it.</exception>
    public static RequestKind OfCallers(MessageDescriptor request) =>
        All.SingleOrDefault(kind => kind.Scope is not null && kind.CallersRequest == request)
        ?? throw new ArgumentException($"{request.FullName} has no kind that callers may send.", nameof(request));

    // There is no case for all others, so that a member of a command that has no kind does not compile.
    // Protobuf makes no other value.
#pragma warning disable CS8524
    private static RequestKind? Of(Command.RequestOneofCase field) => field switch
    {
        Command.RequestOneofCase.None => null,
        Command.RequestOneofCase.Payment => Payment,
        Command.RequestOneofCase.CreditLimit => CreditLimit,
        Command.RequestOneofCase.AccountStatus => AccountStatus,
        Command.RequestOneofCase.Refund => Refund,
        Command.RequestOneofCase.Authorise => Authorise,
        Command.RequestOneofCase.Capture => Capture,
        Command.RequestOneofCase.Void => Void,
        Command.RequestOneofCase.Expiry => Expiry,
        Command.RequestOneofCase.PaymentStatus => PaymentStatus,
        Command.RequestOneofCase.Balance => Balance,
        Command.RequestOneofCase.Statement => Statement,
        Command.RequestOneofCase.Lookup => Lookup,
        Command.RequestOneofCase.BalanceAt => BalanceAt,
    };
#pragma warning restore CS8524

    /// <summary>Copies a time with the fields of the contract.</summary>
    public static Timestamp? Known(Timestamp? time) =>
        time is null ? null : new() { Seconds = time.Seconds, Nanos = time.Nanos };

    /// <summary>Copies a duration with the fields of the contract.</summary>
    private static Duration? Known(Duration? duration) =>
        duration is null ? null : new() { Seconds = duration.Seconds, Nanos = duration.Nanos };

    /// <summary>Copies notes with the fields of the contract.</summary>
    private static PaymentNotes? Known(PaymentNotes? notes) =>
        notes is null ? null : new() { Reference = notes.Reference, Metadata = { notes.Metadata } };

    /// <summary>Copies an amount with the fields of the contract.</summary>
    private static Money Known(Money money) =>
        new() { CurrencyCode = money.CurrencyCode, Units = money.Units, Nanos = money.Nanos };
}
