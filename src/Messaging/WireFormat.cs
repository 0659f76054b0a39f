using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Messaging;

/// <summary>Parses commands and events, with all checks that a backend makes before it processes a command.</summary>
public static class WireFormat
{
    /// <summary>The header with the contract's major version.</summary>
    public const string VersionHeader = "billing-wire";

    /// <summary>This contract's major version.</summary>
    public const int Version = 1;

    /// <summary>The most characters of a principal's name: those of a subject in OpenID Connect Core 1.0,
    /// section 2.</summary>
    public const int NameMax = 255;

    // Far above the longest name of a type with the longest account id.
    private const int StreamIdMax = 200;

    /// <summary>The header with the W3C trace context.</summary>
    internal const string TraceParentHeader = "traceparent";

    private static readonly MessageParser<Event> EventParser = Event.Parser.WithDiscardUnknownFields(true);

    /// <summary>The version header's value.</summary>
    internal static ReadOnlyMemory<byte> VersionBytes { get; } = "1"u8.ToArray();

    /// <summary>Parses and checks the value of a record. The command is also set if it was parsed and then refused,
    /// so that its sender can be answered; the refusal says why the record goes to the dead letters.</summary>
    internal static bool TryReadCommand(
        ReadOnlySpan<byte> value, ReadOnlySpan<byte> version,
        out Command? command, [NotNullWhen(false)] out string? refusal)
    {
        if (TryParse(Command.Parser, "a Command", value, version, out command, out refusal))
        {
            refusal = Topics.IsReplyTopic(command.ProxyTopic)
                || (command.ProxyTopic.Length == 0 && RequestKinds.Of(command) is { IsAnswered: false })
                ? Refusal(command)
                : $"proxy_topic does not name a reply topic ({Topics.ReplyPrefix}...)";
        }
        return refusal is null;
    }

    /// <summary>Parses and checks the value of a record; the refusal says why it is skipped. The event lacks the
    /// members that this program does not know (<see cref="IsWhole"/>).</summary>
    internal static bool TryReadEvent(
        ReadOnlySpan<byte> value, ReadOnlySpan<byte> version, [NotNullWhen(true)] out Event? recorded,
        [NotNullWhen(false)] out string? refusal)
    {
        if (!TryParse(EventParser, "an Event", value, version, out recorded, out refusal))
        {
            return false;
        }
        refusal = recorded.StreamId.Length == 0 ? "stream_id is missing"
            : recorded.StreamId.Length > StreamIdMax ? "stream_id is longer than that of any account"
            : recorded.Version < 1 ? "version is not above zero"
            : !Guid.TryParse(recorded.TransactionId, out _) ? "transaction_id is not a UUID"
            : recorded.Balance is null ? "balance is missing"
            : null;
        return refusal is null;
    }

    /// <summary>Whether an event has all that the value of its record says: a newer program may have written members
    /// that this one does not know.</summary>
    internal static bool IsWhole(Event recorded, ReadOnlySpan<byte> value) => recorded.CalculateSize() == value.Length;

    /// <summary>Whether a text can name the sender of a command: everything that is recorded or shown with it,
    /// and PostgreSQL's JSON, can hold it.</summary>
    public static bool IsName(string text) => text.Length is > 0 and <= NameMax && UntrustedText.IsPrintable(text);

    /// <summary>Returns why a command must not be processed, on any transport; null if it is valid.</summary>
    public static string? Refusal(Command command)
    {
        if (!Guid.TryParse(command.TransactionId, out _))
        {
            return "transaction_id is not a UUID";
        }
        if (command.Timing is { } timing
            && !(UnixTime.IsDate(timing.SentUnixUs) && UnixTime.IsDate(command.ReceivedUnixUs)))
        {
            return "timing.sent_unix_us or received_unix_us is not a time";
        }
        if (command.Principal is { } by && !(IsName(by.Subject) && (by.ClientId.Length == 0 || IsName(by.ClientId))))
        {
            return $"principal names nobody: its texts have 1 to {NameMax} characters, and no control characters";
        }
        return RequestKinds.Of(command) is { } kind ? kind.Refusal(command) : "the command holds no request";
    }

    /// <summary>Returns why a valid command must not be processed from the topic and under the key that it was read
    /// with; null if they are correct. Its kind and payment type determine the topic, whose backends cannot process
    /// other kinds; the key keeps the commands of an account in order on one partition.</summary>
    internal static string? RoutingError(Command command, string topic, ReadOnlySpan<byte> key)
    {
        var route = CommandRoute.Of(command);
        if (Topics.Of(route) != topic)
        {
            return $"the command belongs on {Topics.Of(route)}";
        }
        return key.SequenceEqual(Encoding.UTF8.GetBytes(route.AccountId))
            ? null
            : "the record's key is not the account_id";
    }

    private static bool TryParse<T>(
        MessageParser<T> parser, string kind, ReadOnlySpan<byte> value, ReadOnlySpan<byte> version,
        [NotNullWhen(true)] out T? message, [NotNullWhen(false)] out string? refusal)
        where T : class, IMessage<T>
    {
        (message, refusal) = (null, null);
        if (!version.SequenceEqual(VersionBytes.Span))
        {
            refusal = string.Create(CultureInfo.InvariantCulture, $"the header {VersionHeader} is not {Version}");
            return false;
        }
        try
        {
            message = parser.ParseFrom(value);
            return true;
        }
        catch (InvalidProtocolBufferException e)
        {
            refusal = $"the value is not {kind}: {e.Message}";
            return false;
        }
    }
}
