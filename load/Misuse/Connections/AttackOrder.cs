using System.Text.Json;
using System.Text.Json.Serialization;

namespace Billing.Misuse.Connections;

/// <summary>The ways into a proxy.</summary>
internal enum Front
{
    /// <summary>gRPC without TLS: HTTP/2 by prior knowledge.</summary>
    GrpcH2c,

    /// <summary>gRPC over TLS.</summary>
    GrpcTls,

    /// <summary>REST without TLS, over HTTP/1.1.</summary>
    RestH1,

    /// <summary>REST over TLS and HTTP/1.1.</summary>
    RestTlsH1,

    /// <summary>REST over TLS and HTTP/2.</summary>
    RestTlsH2,
}

/// <summary>What hostile callers show, and from where.</summary>
internal enum Credential
{
    /// <summary>No token.</summary>
    None,

    /// <summary>A token whose signature is wrong.</summary>
    Invalid,

    /// <summary>A valid token of their own.</summary>
    Valid,

    /// <summary>A valid token of their own, from the address of the other callers.</summary>
    ValidAtOthers,
}

/// <summary>How many connections an attack has, and streams or requests on each.</summary>
internal readonly record struct Layout(int Connections, int Streams)
{
    /// <summary>Such as <c>20x1000</c>.</summary>
    public override string ToString() => $"{Connections}x{Streams}";
}

/// <summary>What a process of hostile callers has to do.</summary>
internal sealed record AttackOrder
{
    /// <summary>The name of the attack; empty for a program that computes and sends nothing.</summary>
    public required string Attack { get; init; }

    /// <summary>The front that is attacked.</summary>
    public Front Front { get; init; }

    /// <summary>The connections and their streams.</summary>
    public Layout Layout { get; init; }

    /// <summary>Chooses what the attack leaves open: sizes, bytes, pauses.</summary>
    public int Seed { get; init; }

    /// <summary>How long it lasts.</summary>
    public double Seconds { get; init; }

    /// <summary>The proxy's port of that front, on loopback.</summary>
    public int Port { get; init; }

    /// <summary>The address that the connections come from.</summary>
    public string From { get; init; } = "127.0.0.2";

    /// <summary>The token that is sent; null for none.</summary>
    public string? Token { get; init; }

    /// <summary>The file of the authority of the proxy's certificate; null without TLS.</summary>
    public string? CaFile { get; init; }

    /// <summary>The VISA account whose statement is long.</summary>
    public string LongAccount { get; init; } = "";

    /// <summary>Whether the front has TLS.</summary>
    public static bool HasTls(Front front) => front is Front.GrpcTls or Front.RestTlsH1 or Front.RestTlsH2;

    /// <summary>Whether the front is reached over HTTP/2.</summary>
    public static bool IsHttp2(Front front) => front is Front.GrpcH2c or Front.GrpcTls or Front.RestTlsH2;

    /// <summary>Whether the front takes gRPC.</summary>
    public static bool IsGrpc(Front front) => front is Front.GrpcH2c or Front.GrpcTls;
}

/// <summary>What became of the hostile callers.</summary>
/// <param name="Connections">Connections that were made.</param>
/// <param name="SentBytes">Bytes that were sent.</param>
/// <param name="Unreached">Connections that were never made.</param>
/// <param name="Closed">Connections that the proxy closed in order.</param>
/// <param name="Aborted">Connections that the proxy reset.</param>
/// <param name="Held">Connections that were open at the end, or that the attack closed itself.</param>
/// <param name="StreamsReset">Streams that the proxy reset.</param>
/// <param name="Served">Requests that were answered with success.</param>
/// <param name="Refused">Requests that were refused, by status.</param>
internal sealed record AttackResult(
    long Connections, long SentBytes, long Unreached, long Closed, long Aborted, long Held, long StreamsReset,
    long Served, IReadOnlyDictionary<string, long> Refused)
{
    /// <summary>What happened in words, the most telling first: refused, reset, closed, served, held.</summary>
    [JsonIgnore]
    public string Kinds => string.Join(", ", new (string Kind, long Count)[]
    {
        ("refused", Unreached + Refused.Values.Sum()), ("reset", Aborted + StreamsReset), ("closed", Closed),
        ("served", Served), ("held", Refused.Count == 0 && StreamsReset == 0 && Served == 0 ? Held : 0),
    }.Where(kind => kind.Count > 0).Select(kind => kind.Kind));

    /// <summary>What happened with numbers, the most telling first; one line.</summary>
    public override string ToString()
    {
        var parts = new List<string>();
        Add("connections refused", Unreached);
        Add("connections closed", Closed);
        Add("connections reset", Aborted);
        Add("streams reset", StreamsReset);
        foreach (var (status, count) in Refused.OrderByDescending(refusal => refusal.Value))
        {
            Add($"refused ({status})", count);
        }
        Add("served", Served);
        Add("connections left", Held);
        return parts.Count == 0 ? "nothing" : string.Join(", ", parts);

        void Add(string what, long count)
        {
            if (count > 0)
            {
                parts.Add($"{count:N0} {what}");
            }
        }
    }
}

/// <summary>Reads and writes orders and results.</summary>
[JsonSourceGenerationOptions(UseStringEnumConverter = true)]
[JsonSerializable(typeof(AttackOrder))]
[JsonSerializable(typeof(AttackResult))]
internal sealed partial class AttackJson : JsonSerializerContext
{
    /// <summary>Reads an order from a file.</summary>
    public static AttackOrder ReadOrder(string file) =>
        JsonSerializer.Deserialize(File.ReadAllBytes(file), Default.AttackOrder)!;

    /// <summary>Reads a result from a file.</summary>
    public static AttackResult ReadResult(string file) =>
        JsonSerializer.Deserialize(File.ReadAllBytes(file), Default.AttackResult)!;
}
