using System.Buffers;
using System.Globalization;
using System.IO.Pipelines;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using System.Text.RegularExpressions;
using System.Text.Unicode;
using Billing.Contracts;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Billing.V1;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using Microsoft.AspNetCore.Connections;

namespace Billing.Proxy.Rest;

/// <summary>Reads the parts of a request; the error for a part that cannot be read names it.</summary>
internal static partial class RestRequest
{
    /// <summary>The header with a caller's preferences (RFC 7240).</summary>
    public const string PreferHeader = "Prefer";

    public const string RespondAsync = "respond-async";

    /// <summary>The header with the time that the caller waits, in milliseconds.</summary>
    public const string TimeoutHeader = "billing-timeout-ms";

    // The beginnings of the serializer's messages; the field's name follows.
    private const string UnknownField = "The JSON property '";
    private const string DoubleField = "Duplicate property '";

    private static readonly SearchValues<char> TimeCharacters = SearchValues.Create("0123456789-+:.TZ");
    private static readonly SearchValues<char> DurationCharacters = SearchValues.Create("0123456789-.s");

    public static async ValueTask<T> BodyAsync<T>(HttpContext http, JsonTypeInfo<T> type, int bytesMax)
        where T : class
    {
        // No limit holds for what a compressed body unpacks to, and no request of this API is worth compressing.
        if (http.Request.Headers.ContentEncoding.ToString() is { Length: > 0 } encoding
            && !encoding.Equals("identity", StringComparison.OrdinalIgnoreCase))
        {
            http.Response.Headers.AcceptEncoding = "identity";
            throw new BadHttpRequestException(
                "The body must not be compressed; its Content-Encoding must be absent.",
                StatusCodes.Status415UnsupportedMediaType);
        }
        var length = http.Request.ContentLength;
        if (length > bytesMax)
        {
            throw TooLarge(length.Value, bytesMax);
        }
        RequestBodies.Body? gathered = null;
        try
        {
            var reader = http.Request.BodyReader;
            while (true)
            {
                var read = await ReadAsync(reader, gathered?.Token ?? http.RequestAborted);
                var (come, isWhole) = (read.Buffer.Length, read.IsCompleted || read.Buffer.Length == length);
                try
                {
                    if (come > bytesMax)
                    {
                        throw TooLarge(come, bytesMax);
                    }
                    if (isWhole)
                    {
                        return Parse(read.Buffer, type);
                    }
                }
                finally
                {
                    // Also if it is refused: the server could not read the rest otherwise, and would log that as an
                    // error.
                    reader.AdvanceTo(isWhole ? read.Buffer.End : read.Buffer.Start, read.Buffer.End);
                }
                gathered ??= http.RequestServices.GetRequiredService<RequestBodies>().Begin(http);
                gathered.Grow(come);
            }
        }
        catch (OperationCanceledException) when (gathered is { IsLate: true })
        {
            throw new BadHttpRequestException(RequestBodies.LateMessage, StatusCodes.Status408RequestTimeout);
        }
        finally
        {
            gathered?.Dispose();
        }
    }

    private static async ValueTask<ReadResult> ReadAsync(PipeReader reader, CancellationToken cancellationToken)
    {
        try
        {
            return await reader.ReadAsync(cancellationToken);
        }
        catch (Exception e) when (e is InvalidOperationException
            or (IOException and not (ConnectionResetException or BadHttpRequestException)))
        {
            // The server throws these for chunks, and for fields after the last chunk, that HTTP does not allow.
            throw new BadHttpRequestException(
                "The body cannot be read: " + (e is IOException
                    ? e.Message
                    : "a field after its last chunk has characters that HTTP does not allow."),
                e);
        }
    }

    /// <summary>What HTTP says of a call besides its request. A caller that does not say how long it waits,
    /// waits as long as <paramref name="waits"/>, or else the proxy's default.</summary>
    public static IncomingCall CallOf(HttpContext http, TimeProvider time, TimeSpan? waits = null) =>
        new(Caller.Of(http), new CallerDeadline(time.GetTimestamp(), Timeout(http) ?? waits), http.RequestAborted)
        {
            Response = http.Response,
        };

    private static TimeSpan? Timeout(HttpContext http)
    {
        if (!http.Request.Headers.TryGetValue(TimeoutHeader, out var values))
        {
            return null;
        }
        var value = values.ToString();
        return int.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out var milliseconds)
            && milliseconds > 0
            ? TimeSpan.FromMilliseconds(milliseconds)
            : throw Bad(
                TimeoutHeader,
                $"must be a whole number of milliseconds above zero; it is '{FieldRules.Shorten(value)}'");
    }

    /// <summary>Reads a payment type; an empty one is left to the check of the fields.</summary>
    public static PaymentType PaymentType(string? text) =>
        string.IsNullOrEmpty(text) ? V1.PaymentType.Unspecified
        : FieldRules.TryReadPaymentType(text, out var type) ? type
        : throw new FailureException(Failure.BadField(FieldRules.UnknownPaymentType(text)));

    /// <summary>Reads a time as RFC 3339 has it; null if it is absent.</summary>
    public static Timestamp? Time(string name, string? text) =>
        Parse<Timestamp>(name, text, TimeCharacters, "a time like 2026-01-31T23:59:59Z");

    /// <summary>Reads a duration as protobuf's JSON has it; null if it is absent.</summary>
    public static Duration? Duration(string name, string? text) =>
        Parse<Duration>(name, text, DurationCharacters, "a duration like 3600s");

    /// <summary>Reads the type of a statement's entry.</summary>
    public static StatementEntryType EntryType(string? text) =>
        Names.TryRead(text ?? "", out StatementEntryType type)
            ? type
            : throw Bad(
                "types",
                $"must be types of entries, such as PAYMENT_ACCEPTED; one is '{FieldRules.Shorten(text ?? "")}'");

    /// <summary>Reads the status of an account; an empty one is left to the check of the fields.</summary>
    public static AccountStatus AccountStatus(string? text) =>
        string.IsNullOrEmpty(text) ? V1.AccountStatus.Unspecified
        : Names.TryRead(text, out AccountStatus status) ? status
        : throw new FailureException(Failure.BadField(FieldRules.UnknownAccountStatus(text)));

    /// <summary>Reads a number in the query; <paramref name="fallback"/> if it is absent.</summary>
    public static long Number(string name, string? text, long fallback) =>
        string.IsNullOrEmpty(text) ? fallback
        : long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number) ? number
        : throw Bad(name, $"must be a whole number; it is '{FieldRules.Shorten(text)}'");

    /// <summary>Refuses unknown parameters: a misspelt one would otherwise be ignored silently.</summary>
    public static void CheckQuery(HttpContext http, params ReadOnlySpan<string> known)
    {
        foreach (var (name, _) in http.Request.Query)
        {
            if (!known.Contains(name))
            {
                throw Bad(name, "is not a parameter of this request");
            }
        }
    }

    /// <summary>Whether the caller prefers not to wait for the answer: the preference <c>respond-async</c> of RFC 7240,
    /// without a value. As the RFC requires, unknown preferences are ignored.</summary>
    public static bool PrefersAsync(HttpContext http) =>
        http.Request.Headers.TryGetValue(PreferHeader, out var values)
        && values.Any(value => QuotedText().Replace(value ?? "", "\"\"").Split(',').Any(IsRespondAsync));

    private static bool IsRespondAsync(string preference) =>
        preference.Split(';')[0].Trim().Equals(RespondAsync, StringComparison.OrdinalIgnoreCase);

    [GeneratedRegex("""\"(?:[^"\\]|\\.)*\"?""")]
    private static partial Regex QuotedText();

    // Null if it is absent.
    private static T? Parse<T>(string name, string? text, SearchValues<char> characters, string expected)
        where T : class, IMessage, new()
    {
        if (string.IsNullOrEmpty(text))
        {
            return null;
        }
        try
        {
            if (text.AsSpan().IndexOfAnyExcept(characters) < 0)
            {
                return JsonParser.Default.Parse<T>($"\"{text}\"");
            }
        }
        catch (Exception e) when (e is InvalidProtocolBufferException or InvalidOperationException)
        {
            // It has only the right characters.
        }
        throw Bad(name, $"must be {expected}; it is '{FieldRules.Shorten(text)}'");
    }

    private static T Parse<T>(ReadOnlySequence<byte> body, JsonTypeInfo<T> type)
        where T : class
    {
        var begin = new SequenceReader<byte>(body);
        // Readers may pass over a byte order mark (RFC 8259, section 8.1).
        begin.IsNext(Encoding.UTF8.Preamble, advancePast: true);
        body = begin.UnreadSequence;
        if (body.IsEmpty)
        {
            throw Malformed("The body is missing; it must be a JSON object.");
        }
        try
        {
            var reader = new Utf8JsonReader(body);
            var value = JsonSerializer.Deserialize(ref reader, type)
                ?? throw Malformed("The body is null; it must be a JSON object.");
            // Throws if anything follows the object.
            reader.Read();
            return value;
        }
        catch (JsonException e)
        {
            throw Utf8.IsValid(body.ToArray()) ? Refused(e) : Malformed("The body is not UTF-8, which JSON has to be.");
        }
    }

    private static FailureException Refused(JsonException e)
    {
        // "$" is the body, "$.amount.units" a field. An inner JsonException comes from the reader:
        // the body is not JSON.
        var field = e.Path is { Length: > 2 } path && path.StartsWith("$.", StringComparison.Ordinal) ? path[2..] : "";
        if (NameAfter(UnknownField, e.Message) is { } unknown)
        {
            return Bad(field.Length == 0 ? unknown : field, "is not a field of this request");
        }
        if (NameAfter(DoubleField, e.Message) is { } twice)
        {
            return Bad(field.Length == 0 ? twice : field, "must not be given twice");
        }
        return e.InnerException is JsonException ? Malformed("The body is not JSON: " + Sentence(e.Message))
            : field.Length == 0 ? Malformed("The body must be one JSON object.")
            : Bad(field, "must be " + Expected(field));
    }

    private static string? NameAfter(string beginning, string message) =>
        message.StartsWith(beginning, StringComparison.Ordinal)
            ? message[beginning.Length..message.IndexOf('\'', beginning.Length)]
            : null;

    private static string Expected(string field) => field.Split('.')[^1] switch
    {
        "units" or "version" or "after_version" => "a whole number of 64 bits, or one in a string",
        "nanos" or "page_size" => "a whole number of 32 bits",
        "hold_duration" => "a duration like 3600s, in a string",
        "is_final" => "true or false",
        "types" => "a list of strings",
        "amount" or "limit" => "an object with currency_code, units and nanos",
        _ => "a string",
    };

    // Without the rest of the message, which is about byte positions and .NET types, and without advice to programmers.
    private static string Sentence(string message) => message.Contains("trailing comma", StringComparison.Ordinal)
        ? "a comma stands before the end of an object or a list."
        : message.Split(" Path:")[0].Split(" LineNumber:")[0];

    private static FailureException Bad(string field, string problem) =>
        new(Failure.BadField(new FieldViolation(field, problem)));

    private static FailureException Malformed(string message) =>
        new(new Failure(StatusCode.InvalidArgument, ErrorReasons.MalformedBody, message));

    private static FailureException TooLarge(long size, int bytesMax) => new(new Failure(
        StatusCode.InvalidArgument, ErrorReasons.RequestTooLarge,
        $"The body has {size} bytes or more; Billing:Proxy:RequestBytesMax allows {bytesMax}."));
}
