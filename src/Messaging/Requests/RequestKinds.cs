using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;

namespace Billing.Messaging.Requests;

/// <summary>The kinds of requests, each in a file of its own.</summary>
public static partial class RequestKinds
{
    /// <summary>The kind of a command's request; null if it contains none.</summary>
    public static RequestKind? Of(Command command) => command.RequestCase switch
    {
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
        _ => null,
    };

    /// <summary>Copies a time with the fields of the contract.</summary>
    public static Timestamp? Known(Timestamp? time) => time is null ? null : new() { Seconds = time.Seconds, Nanos = time.Nanos };

    /// <summary>Copies a duration with the fields of the contract.</summary>
    private static Duration? Known(Duration? duration) =>
        duration is null ? null : new() { Seconds = duration.Seconds, Nanos = duration.Nanos };

    /// <summary>Copies notes with the fields of the contract.</summary>
    private static PaymentNotes? Known(PaymentNotes? notes) =>
        notes is null ? null : new() { Reference = notes.Reference, Metadata = { notes.Metadata } };

    /// <summary>Copies an amount with the fields of the contract.</summary>
    private static Money Known(Money money) => new() { CurrencyCode = money.CurrencyCode, Units = money.Units, Nanos = money.Nanos };
}
