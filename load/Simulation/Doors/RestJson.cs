using System.Text.Json;
using System.Text.Json.Nodes;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Grpc.Core;

namespace Billing.Simulation.Doors;

/// <summary>JSON as callers write and read it, by the library's own rules for the messages of the contract, but for the
/// names of enum values, which are short.</summary>
internal static class RestJson
{
    private static readonly JsonFormatter Formatter = new(
        JsonFormatter.Settings.Default.WithPreserveProtoFieldNames(true));

    /// <summary>A message as JSON.</summary>
    public static string Write(IMessage message)
    {
        var json = JsonNode.Parse(Formatter.Format(message))!.AsObject();
        Rename(
            json, message.Descriptor, (values, name) => ShortNames.In(values).Of(values.FindValueByName(name).Number));
        return json.ToJsonString();
    }

    /// <summary>A message from JSON, which has no other fields.</summary>
    public static T Read<T>(string json)
        where T : IMessage, new()
    {
        try
        {
            var answer = JsonNode.Parse(json)!.AsObject();
            Rename(
                answer, new T().Descriptor,
                (values, name) => values.FindValueByNumber(ShortNames.In(values).NumberOf(name)).Name);
            return JsonParser.Default.Parse<T>(answer.ToJsonString());
        }
        catch (InvalidProtocolBufferException e)
        {
            throw new SimulationException($"an answer cannot be read: {e.Message} {json}");
        }
    }

    /// <summary>The failure that an answer states.</summary>
    public static Failure FailureOf(RestAnswer answer)
    {
        using var problem = JsonDocument.Parse(answer.Body);
        var reason = Text(problem.RootElement, "reason");
        return new Failure(StatusOf(answer.Status, reason), reason, Text(
            problem.RootElement, "detail"))
        { Field = Text(problem.RootElement, "field") };
    }

    /// <summary>A member's text; empty if there is none.</summary>
    public static string Text(JsonElement json, string name) =>
        json.TryGetProperty(name, out var value) ? value.ToString() : "";

    private static void Rename(JsonObject json, MessageDescriptor type, Func<EnumDescriptor, string, string?> rename)
    {
        foreach (var field in type.Fields.InDeclarationOrder())
        {
            switch (json[field.Name])
            {
                case JsonValue name when field.FieldType == FieldType.Enum:
                    json[field.Name] = rename(field.EnumType, name.GetValue<string>());
                    break;
                case JsonArray names when field.FieldType == FieldType.Enum:
                    json[field.Name] = new JsonArray(
                        [.. names.Select(name => rename(field.EnumType, name!.GetValue<string>()))]);
                    break;
                case JsonObject inner when field.FieldType == FieldType.Message && !field.IsMap:
                    Rename(inner, field.MessageType, rename);
                    break;
                case JsonArray items when field.FieldType == FieldType.Message && !field.IsMap:
                    items.OfType<JsonObject>().ToList().ForEach(item => Rename(item, field.MessageType, rename));
                    break;
            }
        }
    }

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
