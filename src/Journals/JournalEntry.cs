using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Unicode;
using Billing.V1;

namespace Billing.Journals;

/// <summary>What a client knows of a payment.</summary>
public enum PaymentFate
{
    /// <summary>It may or may not be recorded.</summary>
    Unknown,

    /// <summary>It was accepted.</summary>
    Accepted,

    /// <summary>It was declined.</summary>
    Declined,

    /// <summary>The answer says that nothing was charged.</summary>
    Failed,
}

/// <summary>When a call began and ended, microseconds since the Unix epoch.</summary>
public readonly record struct CallSpan(long BeganUnixUs, long EndedUnixUs);

/// <summary>One line of a journal: the result of a payment as its client knows it, or a balance that a client
/// received.</summary>
/// <param name="TransactionId">The idempotency key; empty for a balance, which has no amount and no outcome.</param>
/// <param name="StreamId">The account's stream.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="Amount">The amount.</param>
/// <param name="Outcome">What the client knows of it.</param>
/// <param name="Version">The version of the stream that records the payment, or as of which the balance is;
/// 0 if there was no answer.</param>
/// <param name="Balance">What the account owed afterwards, according to the answer;
/// null if there was no answer.</param>
/// <param name="Reason">Why the payment was declined, according to the answer;
/// unspecified if it was not declined.</param>
/// <param name="Span">When the call began and ended, according to its client's clock.</param>
/// <param name="MinVersion">The version that a balance had to include; 0 for any.</param>
public readonly record struct JournalEntry(
    Guid TransactionId, string StreamId, string Currency, decimal Amount, PaymentFate Outcome, long Version,
    decimal? Balance, DeclineReason Reason, CallSpan Span, long MinVersion = 0)
{
    private const int OtherFieldsBytesMax = 320;

    private static CultureInfo Invariant => CultureInfo.InvariantCulture;

    /// <summary>Whether this is a balance and not a payment.</summary>
    public bool IsBalance => TransactionId == Guid.Empty;

    /// <summary>The entry of a payment that was accepted or declined.</summary>
    /// <param name="request">The request.</param>
    /// <param name="answer">The answer.</param>
    /// <param name="span">When the first attempt began and the answer arrived.</param>
    public static JournalEntry Of(MakePaymentRequest request, MakePaymentResponse answer, CallSpan span) =>
        OfPayment(request, FateOf(answer), span) with
        {
            Version = answer.Version,
            Balance = WireAmount.Of(answer.Balance),
            Reason = answer.DeclineReason,
        };

    /// <summary>The entry of a payment that failed.</summary>
    /// <param name="request">The request.</param>
    /// <param name="isFinal">Whether the failure says that nothing was charged;
    /// otherwise the outcome is unknown.</param>
    /// <param name="span">When the first attempt began and the last one ended.</param>
    public static JournalEntry Failed(MakePaymentRequest request, bool isFinal, CallSpan span) =>
        OfPayment(request, isFinal ? PaymentFate.Failed : PaymentFate.Unknown, span);

    /// <summary>The entry of a balance.</summary>
    /// <param name="request">The request.</param>
    /// <param name="answer">The answer.</param>
    /// <param name="span">When the call began and ended.</param>
    public static JournalEntry Of(CheckBalanceRequest request, CheckBalanceResponse answer, CallSpan span) => new(
        Guid.Empty, Contracts.StreamId.For(request.PaymentType, request.AccountId), answer.Balance.CurrencyCode, 0,
        PaymentFate.Unknown, answer.Version, WireAmount.Of(answer.Balance), DeclineReason.Unspecified, span,
        request.MinVersion);

    /// <summary>The entry of the balance in the answer to an authorisation, capture, void or refund.</summary>
    /// <param name="streamId">The account's stream.</param>
    /// <param name="balance">What the account owed afterwards.</param>
    /// <param name="version">The version of the stream that records it.</param>
    /// <param name="span">When the call began and ended.</param>
    public static JournalEntry Of(string streamId, Money? balance, long version, CallSpan span) => new(
        Guid.Empty, streamId, balance?.CurrencyCode ?? "", 0, PaymentFate.Unknown, version,
        WireAmount.Of(balance), DeclineReason.Unspecified, span);

    /// <summary>The line: the fields in order, separated by commas. Balance and reason may be empty.</summary>
    public override string ToString()
    {
        var line = new ArrayBufferWriter<byte>();
        WriteTo(line);
        return Encoding.UTF8.GetString(line.WrittenSpan);
    }

    /// <summary>Writes the line, without a line break.</summary>
    internal void WriteTo(IBufferWriter<byte> lines)
    {
        // A character takes at most three bytes; the other fields are numbers and names.
        var line = lines.GetSpan(OtherFieldsBytesMax + (3 * (StreamId.Length + Currency.Length)));
        var reason = Reason == DeclineReason.Unspecified ? "" : Reason.ToString();
        Utf8.TryWrite(
            line, Invariant,
            $"{TransactionId},{StreamId},{Currency},{Amount},{Outcome.ToString()},{Version},", out var begun);
        var balanced = 0;
        Balance?.TryFormat(line[begun..], out balanced, default, Invariant);
        Utf8.TryWrite(
            line[(begun + balanced)..], Invariant,
            $",{reason},{Span.BeganUnixUs},{Span.EndedUnixUs},{MinVersion}", out var ended);
        lines.Advance(begun + balanced + ended);
    }

    // What an outcome of a newer platform means is not known.
    private static PaymentFate FateOf(MakePaymentResponse answer) => answer.Outcome switch
    {
        PaymentOutcome.Accepted => PaymentFate.Accepted,
        PaymentOutcome.Declined => PaymentFate.Declined,
        _ => PaymentFate.Unknown,
    };

    private static JournalEntry OfPayment(MakePaymentRequest request, PaymentFate outcome, CallSpan span) => new(
        Guid.Parse(request.TransactionId), Contracts.StreamId.For(request.PaymentType, request.AccountId),
        request.Amount.CurrencyCode, WireAmount.Of(request.Amount) ?? 0, outcome, Version: 0, Balance: null,
        DeclineReason.Unspecified, span);
}
