using System.Text.Json;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.V1;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Simulation.Doors;

/// <summary>JSON as callers write and read it, by the library's own rules for the messages of the contract.</summary>
internal static class RestJson
{
    private static readonly JsonFormatter Formatter = new(JsonFormatter.Settings.Default.WithPreserveProtoFieldNames(true));

    /// <summary>A message as JSON.</summary>
    public static string Write(IMessage message) => Formatter.Format(message);

    /// <summary>A message from JSON, which has no other fields.</summary>
    public static T Read<T>(string json)
        where T : IMessage, new()
    {
        try
        {
            return JsonParser.Default.Parse<T>(json);
        }
        catch (InvalidProtocolBufferException e)
        {
            throw new SimulationException($"an answer cannot be read: {e.Message} {json}");
        }
    }

    /// <summary>A page of a statement by version: its entries, and the version that the next page goes on after, if there is one.</summary>
    public static (List<StatementEntry> Entries, long? Next) ReadPage(string json)
    {
        using var page = JsonDocument.Parse(json);
        return (
            [.. page.RootElement.GetProperty("entries").EnumerateArray().Select(entry => Read<StatementEntry>(entry.GetRawText()))],
            page.RootElement.TryGetProperty("next", out var next) ? next.GetInt64() : null);
    }

    /// <summary>The failure that an answer states.</summary>
    public static Failure FailureOf(RestAnswer answer)
    {
        using var problem = JsonDocument.Parse(answer.Body);
        var reason = Text(problem.RootElement, "reason");
        return new Failure(StatusOf(answer.Status, reason), reason, Text(problem.RootElement, "detail")) { Field = Text(problem.RootElement, "field") };
    }

    /// <summary>A member's text; empty if there is none.</summary>
    public static string Text(JsonElement json, string name) => json.TryGetProperty(name, out var value) ? value.ToString() : "";

    private static StatusCode StatusOf(int status, string reason) => status switch
    {
        400 when reason is ErrorReasons.InvalidField or ErrorReasons.MalformedBody => StatusCode.InvalidArgument,
        400 when reason is ErrorReasons.VersionNotReached => StatusCode.OutOfRange,
        400 => StatusCode.FailedPrecondition,
        404 when reason.Length > 0 => StatusCode.NotFound,
        409 => StatusCode.AlreadyExists,
        429 => StatusCode.ResourceExhausted,
        503 => StatusCode.Unavailable,
        504 => StatusCode.DeadlineExceeded,
        _ => StatusCode.Unknown,
    };
}
