using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Messaging;

/// <summary>Parses commands and events, with all checks that a backend makes before it processes a command.</summary>
public static class WireFormat
{
    /// <summary>The header with the contract's major version.</summary>
    public const string VersionHeader = "billing-wire";

    /// <summary>The header with the W3C trace context.</summary>
    public const string TraceParentHeader = "traceparent";

    /// <summary>This contract's major version.</summary>
    public const int Version = 1;

    /// <summary>The version header's value.</summary>
    public static ReadOnlyMemory<byte> VersionBytes { get; } = "1"u8.ToArray();

    /// <summary>Parses and checks a command.</summary>
    /// <param name="value">The record's value.</param>
    /// <param name="version">The version header's value; empty if the record has none.</param>
    /// <param name="command">The command; also set if it was parsed and then refused, so that its sender can be answered.</param>
    /// <param name="refusal">Why the record goes to the dead letters.</param>
    /// <returns>Whether the command may be processed.</returns>
    public static bool TryReadCommand(
        ReadOnlySpan<byte> value, ReadOnlySpan<byte> version, out Command? command, [NotNullWhen(false)] out string? refusal)
    {
        command = null;
        refusal = VersionRefusal(version);
        if (refusal is not null)
        {
            return false;
        }
        try
        {
            command = Command.Parser.ParseFrom(value);
        }
        catch (InvalidProtocolBufferException e)
        {
            refusal = "the value is not a Command: " + e.Message;
            return false;
        }
        refusal = Topics.IsReplyTopic(command.ProxyTopic)
            ? Refusal(command)
            : $"proxy_topic does not name a reply topic ({Topics.ReplyPrefix}...)";
        return refusal is null;
    }

    /// <summary>Parses and checks an event.</summary>
    /// <param name="value">The record's value.</param>
    /// <param name="version">The version header's value; empty if the record has none.</param>
    /// <param name="recorded">The event.</param>
    /// <param name="refusal">Why the record is skipped.</param>
    /// <returns>Whether the record is a valid event.</returns>
    public static bool TryReadEvent(
        ReadOnlySpan<byte> value, ReadOnlySpan<byte> version, [NotNullWhen(true)] out Event? recorded,
        [NotNullWhen(false)] out string? refusal)
    {
        recorded = null;
        refusal = VersionRefusal(version);
        if (refusal is not null)
        {
            return false;
        }
        try
        {
            var read = Event.Parser.ParseFrom(value);
            refusal = read.StreamId.Length == 0 ? "stream_id is missing"
                : read.Version < 1 ? "version is not above zero"
                : null;
            recorded = refusal is null ? read : null;
        }
        catch (InvalidProtocolBufferException e)
        {
            refusal = "the value is not an Event: " + e.Message;
        }
        return recorded is not null;
    }

    private static string? VersionRefusal(ReadOnlySpan<byte> version) => version.SequenceEqual(VersionBytes.Span)
        ? null
        : string.Create(CultureInfo.InvariantCulture, $"the header {VersionHeader} is not {Version}");

    /// <summary>Returns why a command must not be processed, on any transport; null if it is valid.</summary>
    public static string? Refusal(Command command)
    {
        if (!Guid.TryParse(command.TransactionId, out _))
        {
            return "transaction_id is not a UUID";
        }
        if (command.Timing is { } timing && !(UnixTime.IsDate(timing.SentUnixUs) && UnixTime.IsDate(command.ReceivedUnixUs)))
        {
            return "timing.sent_unix_us or received_unix_us is not a time";
        }
        return RequestKinds.Of(command) is { } kind ? kind.Refusal(command) : "the command holds no request";
    }

    /// <summary>Returns why a valid command must not be processed from the topic it was read from; null if topic and key are
    /// correct. Its kind and payment type determine the topic, whose backends cannot process other kinds; the key keeps the
    /// commands of an account in order on one partition.</summary>
    /// <param name="command">A command that <see cref="Refusal"/> does not refuse.</param>
    /// <param name="topic">The topic that it was read from.</param>
    /// <param name="key">The key of its record; empty if there is none.</param>
    public static string? RoutingError(Command command, string topic, ReadOnlySpan<byte> key)
    {
        var route = CommandRoute.Of(command);
        if (Topics.Of(route) != topic)
        {
            return $"the command belongs on {Topics.Of(route)}";
        }
        return key.SequenceEqual(Encoding.UTF8.GetBytes(route.AccountId)) ? null : "the record's key is not the account_id";
    }
}
