using System.Globalization;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;

namespace Billing.Backends.Writes;

/// <summary>A kind of request on the write side: how a command of the wire contract becomes one of the domain,
/// and how what was recorded becomes a reply. There is a file for each kind, with its events;
/// <see cref="WriteKinds"/> lists them.</summary>
internal abstract class WriteKind
{
    public abstract Command.RequestOneofCase Field { get; }

    public virtual IReadOnlyList<EventKind> Events => [];

    /// <summary>Whether the card network is asked before such a request is decided.</summary>
    public virtual bool NeedsAuthorisation => false;

    /// <summary>Whether it only asks what has become of another request.</summary>
    public virtual bool IsStatusQuery => false;

    /// <summary>The domain command of a wire command.</summary>
    /// <exception cref="NotSupportedException">It only asks what has become of another request.</exception>
    public abstract AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId);

    /// <summary>The path of the request's money.</summary>
    protected virtual string MoneyField => "amount";

    /// <summary>The error for a command that is refused.</summary>
    public Error Explain(Refusal refusal) => refusal switch
    {
        Refusal.OtherCurrency(var currency) => Refused(
            ErrorReasons.CurrencyMismatch, $"{MoneyField}.currency_code must be {currency}: the account is kept in it.",
            MoneyField + ".currency_code"),
        Refusal.NotEmpty(var balance, var held, var currency) => Refused(
            ErrorReasons.AccountNotEmpty,
            string.Create(
                CultureInfo.InvariantCulture,
                $"The account cannot be closed: it owes {balance} {currency}, and {held} {currency} is on hold."),
            "account_status"),
        Refusal.NoSuchPayment => new Error
        {
            StatusCode = (int)StatusCode.NotFound,
            Reason = ErrorReasons.PaymentNotFound,
            Message = "The account has no recorded payment under this payment_id.",
            Field = "payment_id",
        },
        Refusal.PaymentWasDeclined => Refused(
            ErrorReasons.PaymentDeclined, "The payment was declined: nothing was charged for it.", "payment_id"),
        Refusal.NothingOnHold => Refused(
            ErrorReasons.NotOnHold,
            "Nothing of the payment is on hold: it was not authorised, is captured whole or voided, or has expired.",
            "payment_id"),
        Refusal.MoreThanIsHeld(var held) => TooMuch(held, "on hold"),
        Refusal.MoreThanIsLeft(var left) => TooMuch(left, "left"),
        _ => throw new ArgumentOutOfRangeException(nameof(refusal), refusal, "There is no error for it."),
    };

    private Error TooMuch(decimal most, string where) => Refused(
        ErrorReasons.AmountTooLarge,
        string.Create(
            CultureInfo.InvariantCulture, $"{MoneyField} must be at most {most}: no more is {where} of the payment."),
        MoneyField);

    private static Error Refused(string reason, string message, string field) =>
        new() { StatusCode = (int)StatusCode.FailedPrecondition, Reason = reason, Message = message, Field = field };

    /// <summary>What the sender of a command keeps with it; null for nothing.</summary>
    public virtual PaymentNotes? NotesOf(Command command) => null;

    /// <summary>Whether an event of the command's account has the contents that the command asked for.</summary>
    public virtual bool IsAnsweredBy(Command command, Event recorded) =>
        AsksFor(command, recorded) && Notes.Of(NotesOf(command)) == Notes.Of(recorded.Notes);

    /// <summary>Whether an event of the command's account is of the kind and has the amounts that the
    /// command asked for.</summary>
    protected abstract bool AsksFor(Command command, Event recorded);

    /// <summary>Completes the reply to a command from the event recorded for it.</summary>
    /// <param name="reply">The reply.</param>
    /// <param name="recorded">The event.</param>
    /// <param name="isReplay">Whether it had been recorded before the command was processed.</param>
    public abstract void Answer(Reply reply, Event recorded, bool isReplay);

    /// <summary>Completes the reply to a command for which no event is recorded.</summary>
    public virtual void Answer(Reply reply, Error refusal) => reply.Error = refusal;

    /// <summary>What is on hold on the account after an event.</summary>
    protected static Money OnHold(Event recorded) => recorded.OnHold ?? 0m.ToMoney(recorded.Balance.CurrencyCode);

    /// <summary>When an event was decided.</summary>
    protected static Timestamp DecideTime(Event recorded) =>
        UnixTime.FromMicroseconds(recorded.DecidedUnixUs).ToTimestamp();

    /// <summary>Whether two amounts are the same. Not Money's own equality, which also compares unknown fields sent
    /// by a newer client.</summary>
    protected static bool AreSame(Money one, Money other) =>
        (one.CurrencyCode, one.Units, one.Nanos) == (other.CurrencyCode, other.Units, other.Nanos);
}
