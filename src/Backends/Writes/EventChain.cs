using System.Buffers;
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Billing.Backends.Domain;

namespace Billing.Backends.Writes;

/// <summary>An event as it is stored.</summary>
/// <param name="Type">The name of its kind, with the version of its shape.</param>
/// <param name="DotnetType">The .NET type of its shape, as Marten writes it.</param>
/// <param name="Json">What it says, in UTF-8, and its hash.</param>
/// <param name="Hash">The hash that chains it to the earlier events of its account, in Base64.</param>
public readonly record struct EventBody(string Type, string DotnetType, ReadOnlyMemory<byte> Json, string Hash);

/// <summary>Chains the events of an account by hashes, so that it shows if one is altered, removed or put in behind
/// the platform's back. The hash of an event is the SHA-256 of the hash before it and of the event, in a form that
/// does not depend on how a database keeps JSON: docs/tamper-evidence.md states it, and the auditor computes it
/// with code of its own.</summary>
internal static class EventChain
{
    /// <summary>The member of a stored event that holds its hash.</summary>
    public const string Member = "Hash";

    private const int MembersMax = 32;

    private static readonly byte[] BeforeHash = Encoding.ASCII.GetBytes($",\"{Member}\":\"");

    [ThreadStatic]
    private static ArrayBufferWriter<byte>? _json;

    [ThreadStatic]
    private static ArrayBufferWriter<byte>? _form;

    [ThreadStatic]
    private static Utf8JsonWriter? _writer;

    /// <summary>Writes an event with its hash.</summary>
    /// <param name="head">The hash of the account's last event; null if there is none.</param>
    /// <param name="streamId">The account's stream.</param>
    /// <param name="version">The event's version.</param>
    /// <param name="fact">The event.</param>
    public static EventBody Append(string? head, string streamId, long version, AccountEvent fact)
    {
        var kind = WriteKinds.Of(fact);
        var json = Serialise(kind, fact);
        var form = _form ??= new ArrayBufferWriter<byte>(1024);
        form.ResetWrittenCount();
        Write(form, 's', head ?? "");
        Write(form, 's', streamId);
        Write(form, version);
        Write(form, 's', kind.Name);
        WriteValue(form, json);
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(form.WrittenSpan, hash);
        return new EventBody(kind.Name, kind.DotnetType, With(json, hash), Convert.ToBase64String(hash));
    }

    private static ReadOnlySpan<byte> Serialise(EventKind kind, AccountEvent fact)
    {
        var json = _json ??= new ArrayBufferWriter<byte>(1024);
        json.ResetWrittenCount();
        var writer = _writer ??= new Utf8JsonWriter(json);
        writer.Reset();
        kind.WriteJson(fact, writer);
        writer.Flush();
        return json.WrittenSpan;
    }

    // An event is an object with members.
    private static byte[] With(ReadOnlySpan<byte> json, ReadOnlySpan<byte> hash)
    {
        ReadOnlySpan<byte> before = BeforeHash;
        var after = "\"}"u8;
        var length = Base64.GetMaxEncodedToUtf8Length(hash.Length);
        var all = new byte[json.Length - 1 + before.Length + length + after.Length];
        json[..^1].CopyTo(all);
        before.CopyTo(all.AsSpan(json.Length - 1));
        Base64.EncodeToUtf8(hash, all.AsSpan(^(length + after.Length)), out _, out _);
        after.CopyTo(all.AsSpan(^after.Length));
        return all;
    }

    // The value at the start of some JSON.
    private static void WriteValue(ArrayBufferWriter<byte> form, ReadOnlySpan<byte> json)
    {
        var reader = new Utf8JsonReader(json);
        reader.Read();
        switch (reader.TokenType)
        {
            case JsonTokenType.StartObject:
                WriteObject(form, ref reader, json);
                break;
            case JsonTokenType.String:
                WriteString(form, ref reader);
                break;
            case JsonTokenType.Number:
                // A database keeps the digits of a number, and no sign of a zero.
                var isZero = reader.ValueSpan.IndexOfAnyInRange((byte)'1', (byte)'9') < 0;
                Write(form, 'n', isZero ? reader.ValueSpan.TrimStart((byte)'-') : reader.ValueSpan);
                break;
            default:
                throw new NotSupportedException($"An event with a JSON {reader.TokenType} cannot be chained.");
        }
    }

    private static void WriteObject(ArrayBufferWriter<byte> form, ref Utf8JsonReader reader, ReadOnlySpan<byte> json)
    {
        Span<Range> names = stackalloc Range[MembersMax];
        Span<int> values = stackalloc int[MembersMax];
        var count = 0;
        for (; reader.Read() && reader.TokenType == JsonTokenType.PropertyName; count++)
        {
            var start = (int)reader.TokenStartIndex + 1;
            var (name, value) = (start..(start + reader.ValueSpan.Length), (int)reader.BytesConsumed);
            var index = count;
            for (; index > 0 && json[names[index - 1]].SequenceCompareTo(json[name]) > 0; index--)
            {
                (names[index], values[index]) = (names[index - 1], values[index - 1]);
            }
            (names[index], values[index]) = (name, value);
            reader.Skip();
        }
        form.Write("{"u8);
        for (var i = 0; i < count; i++)
        {
            Write(form, 's', json[names[i]]);
            WriteValue(form, json[values[i]..]);
        }
        form.Write("}"u8);
    }

    private static void WriteString(ArrayBufferWriter<byte> form, ref Utf8JsonReader reader)
    {
        if (!reader.ValueIsEscaped)
        {
            Write(form, 's', reader.ValueSpan);
            return;
        }
        var unescaped = new byte[reader.ValueSpan.Length];
        Write(form, 's', unescaped.AsSpan(0, reader.CopyString(unescaped)));
    }

    private static void Write(ArrayBufferWriter<byte> form, long number)
    {
        Span<byte> digits = stackalloc byte[20];
        Utf8Formatter.TryFormat(number, digits, out var length);
        Write(form, 'n', digits[..length]);
    }

    private static void Write(ArrayBufferWriter<byte> form, char kind, string text)
    {
        var length = Encoding.UTF8.GetByteCount(text);
        WriteHead(form, kind, length);
        Encoding.UTF8.GetBytes(text, form);
    }

    private static void Write(ArrayBufferWriter<byte> form, char kind, ReadOnlySpan<byte> text)
    {
        WriteHead(form, kind, text.Length);
        form.Write(text);
    }

    // With the length, so that no two events have one form.
    private static void WriteHead(ArrayBufferWriter<byte> form, char kind, int length)
    {
        var head = form.GetSpan(16);
        head[0] = (byte)kind;
        Utf8Formatter.TryFormat(length, head[1..], out var digits);
        head[1 + digits] = (byte)':';
        form.Advance(2 + digits);
    }
}
