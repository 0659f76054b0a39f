using System.Globalization;
using System.Text.Json.Nodes;
using Billing.Contracts;
using Billing.V1;
using Microsoft.OpenApi;

namespace Billing.Proxy.Rest.Description;

/// <summary>What the OpenAPI document says of the fields: their formats, limits and values. A field has one meaning
/// wherever it is; where it has several, the name of its schema stands before its own.</summary>
internal static class RestSchemas
{
    private const string Unknown = "UNKNOWN";
    private const string NotKnown = " " + Unknown + " is only in answers: a value that this proxy is too old to name.";

    private static readonly (string Name, string Description, IEnumerable<string> Values)[] Enums =
    [
        ("PaymentType", "The card network.", ShortNames.In<PaymentType>().All),
        ("PaymentOutcome", "Whether it was accepted." + NotKnown, [.. ShortNames.In<PaymentOutcome>().All, Unknown]),
        ("DeclineReason", "Why it was declined." + NotKnown, [.. ShortNames.In<DeclineReason>().All, Unknown]),
        ("AccountStatus", "What the account may do." + NotKnown, [.. ShortNames.In<AccountStatus>().All, Unknown]),
        ("StatementEntryType", "What happened." + NotKnown, [.. ShortNames.In<StatementEntryType>().All, Unknown]),
        ("QueuedPaymentStatus", "What became of a queued payment; all but PENDING are final." + NotKnown,
            ["PENDING", "ACCEPTED", "DECLINED", "FAILED", Unknown]),
    ];

    /// <summary>Completes the schemas of bodies and parameters.</summary>
    public static void Complete(OpenApiDocument document)
    {
        foreach (var (name, schema) in document.Components!.Schemas!.ToList())
        {
            Complete((OpenApiSchema)schema, name, document);
        }
        foreach (var (name, description, values) in Enums)
        {
            document.AddComponent(name, new OpenApiSchema
            {
                Type = JsonSchemaType.String,
                Description = description,
                Enum = [.. values.Select(value => (JsonNode)value)],
            });
        }
        foreach (var parameter in document.Paths.Values.SelectMany(path => path.Operations!.Values)
            .SelectMany(operation => operation.Parameters ?? []))
        {
            ((OpenApiParameter)parameter).Schema = Field("parameter", parameter.Name!, document)
                ?? Plain(parameter.Schema!, document);
        }
    }

    private static void Complete(OpenApiSchema schema, string owner, OpenApiDocument document)
    {
        foreach (var (name, property) in schema.Properties?.ToList() ?? [])
        {
            var field = Field(owner, name, document) ?? Plain(property, document);
            // One that may be null has no description of its own, but that of its type.
            if (property.OneOf is null)
            {
                field.Description = Line(property.Description);
            }
            schema.Properties![name] = field;
        }
        schema.Description = Line(schema.Description);
        // A misspelt field of a request is refused; answers may get more fields.
        schema.AdditionalPropertiesAllowed = !(owner.EndsWith("Request", StringComparison.Ordinal)
            || owner == "Amount");
    }

    private static IOpenApiSchema? Field(string owner, string name, OpenApiDocument document) =>
        $"{owner}.{name}" switch
        {
            "StatementEntry.type" => Values("StatementEntryType", document),
            "PaymentStatus.status" => Values("QueuedPaymentStatus", document),
            "Amount.currency_code" => Text("^[A-Z]{3}$"),
            "Money.currency_code" => Text("^([A-Z]{3})?$"),
            "Amount.units" => Text("^[0-9]{1,16}$", "0"),
            "Money.units" => Text("^-?[0-9]{1,19}$"),
            "Amount.nanos" => Number("int32", 0, MoneyExtensions.NanosPerUnit - 1, 0),
            "Money.nanos" => Number("int32", 1 - MoneyExtensions.NanosPerUnit, MoneyExtensions.NanosPerUnit - 1),
            "PaymentStatus.status_url" => Format("uri-reference"),
            _ => Field(name, document),
        };

    private static IOpenApiSchema? Field(string name, OpenApiDocument document) => name switch
    {
        "account_id" =>
            Text(string.Create(CultureInfo.InvariantCulture, $"^[A-Za-z0-9._-]{{1,{FieldRules.AccountIdLengthMax}}}$")),
        "transaction_id" or "payment_id" => Format("uuid"),
        "payment_type" => Values("PaymentType", document),
        "outcome" => Values("PaymentOutcome", document),
        "decline_reason" => Values("DeclineReason", document),
        "account_status" => Values("AccountStatus", document),
        "types" => new OpenApiSchema { Type = JsonSchemaType.Array, Items = Values("StatementEntryType", document) },
        "hold_duration" => Text("^[0-9]{1,7}s$"),
        "time" or "start_time" or "end_time" => Format("date-time"),
        "version" or "min_version" or "after_version" or "retry_after_ms" => Number("int64", 0),
        "page_size" => Number("int32", 0),
        RestRequest.TimeoutHeader => Number("int32", 1),
        "reference" => new OpenApiSchema { Type = JsonSchemaType.String, MaxLength = FieldRules.NoteLengthMax },
        "metadata" => new OpenApiSchema
        {
            Type = JsonSchemaType.Object,
            MaxProperties = FieldRules.MetadataPairsMax,
            AdditionalProperties =
                new OpenApiSchema { Type = JsonSchemaType.String, MaxLength = FieldRules.NoteLengthMax },
        },
        _ => null,
    };

    // As it is, but never null: what is absent is left out.
    private static IOpenApiSchema Plain(IOpenApiSchema schema, OpenApiDocument document)
    {
        if ((schema as OpenApiSchemaReference
            ?? schema.OneOf?.OfType<OpenApiSchemaReference>().Single()) is { } reference)
        {
            return new OpenApiSchemaReference(reference.Reference.Id!, document);
        }
        var plain = (OpenApiSchema)schema;
        plain.Type &= ~JsonSchemaType.Null;
        return plain;
    }

    // Comments in the code are broken into lines.
    private static string? Line(string? comment) =>
        comment is null ? null : string.Join(' ', comment.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries));

    private static OpenApiSchemaReference Values(string name, OpenApiDocument document) => new(name, document);

    private static OpenApiSchema Format(string format) => new() { Type = JsonSchemaType.String, Format = format };

    private static OpenApiSchema Text(string pattern, string? ifAbsent = null) =>
        new() { Type = JsonSchemaType.String, Pattern = pattern, Default = ifAbsent };

    private static OpenApiSchema Number(string format, long least, long? most = null, int? ifAbsent = null) => new()
    {
        Type = JsonSchemaType.Integer,
        Format = format,
        Minimum = least.ToString(CultureInfo.InvariantCulture),
        Maximum = most?.ToString(CultureInfo.InvariantCulture),
        Default = ifAbsent,
    };
}
