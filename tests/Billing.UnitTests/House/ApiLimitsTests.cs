using System.Globalization;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.UnitTests.Testing;
using Billing.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace Billing.UnitTests.House;

/// <summary>The limits on docs/api.md against the rules of the code and the requests of billing.proto.</summary>
public sealed partial class ApiLimitsTests
{
    private static readonly string[] Ids = ["transaction_id", "payment_id"];

    // The methods that the page calls "amounts".
    private static readonly string[] Amounts = ["MakePayment", "AuthorisePayment", "CapturePayment", "RefundPayment"];

    private static readonly string[] Page = Repository.Lines("docs/api.md");

    private static readonly Dictionary<string, MessageDescriptor> Requests =
        ApiMethods.Unary.Select(method => ApiMethods.Of(method.Data))
            .ToDictionary(method => method.Name, method => method.InputType, StringComparer.Ordinal);

    private static readonly List<(string Methods, string Field, string Accepted, string Refused)> Limits =
    [
        .. from item in Repository.ListItems(Page, "## Limits of requests")
           let limit = Limit().Match(item).Groups
           select (limit["methods"].Value, limit["field"].Value, limit["accepted"].Value, limit["refused"].Value),
    ];

    public static TheoryData<string, string, string, string> Rows => [.. Limits];

    [Theory]
    [MemberData(nameof(Rows))]
    public void The_rules_accept_and_refuse_the_values_of_a_field(
        string methods, string field, string accepted, string refused)
    {
        foreach (var method in MethodsOf(methods))
        {
            Assert.All(Values(accepted), value => Assert.Null(Check(method, field, value)));
            Assert.All(Values(refused), value => Assert.Equal(field, Check(method, field, value)?.Field));
        }
    }

    [Fact]
    public void Every_field_of_every_request_has_limits() => Assert.Equal(
        Requests.SelectMany(request => FieldsOf(request.Value, "").Select(field => $"{request.Key} {field}"))
            .Order(StringComparer.Ordinal),
        Limits.SelectMany(limit => MethodsOf(limit.Methods).Select(method => $"{method} {limit.Field}"))
            .Order(StringComparer.Ordinal));

    [Fact]
    public void Every_method_is_on_the_page()
    {
        var text = string.Join('\n', Page);
        Assert.All(
            BillingReflection.Descriptor.Services.SelectMany(service => service.Methods),
            method => Assert.Contains(method.Name, text, StringComparison.Ordinal));
    }

    private static FieldViolation? Check(string method, string field, string value)
    {
        var type = Requests[method];
        var request = new JsonObject
        {
            ["account_id"] = "a",
            ["payment_type"] = "PAYMENT_TYPE_VISA",
        };
        foreach (var id in Ids.Where(name => type.FindFieldByName(name) is not null))
        {
            request[id] = "01234567-89ab-cdef-0123-456789abcdef";
        }
        if (type.Fields.InDeclarationOrder()
            .FirstOrDefault(f => IsOurs(f) && f.MessageType == Money.Descriptor) is { } money)
        {
            request[money.Name] = new JsonObject { ["currency_code"] = "USD", ["units"] = 1 };
        }
        foreach (var status in type.Fields.InDeclarationOrder()
            .Where(f => f.FieldType == FieldType.Enum && f.EnumType.Name == nameof(AccountStatus)))
        {
            request[status.Name] = 1;
        }
        // One of a choice is required.
        foreach (var choice in type.Oneofs.Where(choice => !choice.Fields.Any(f => f.Name == field)))
        {
            request[choice.Fields[0].Name] = 1;
        }
        var path = field.Split('.');
        var holder = path.Length == 1 ? request : (request[path[0]] ??= new JsonObject()).AsObject();
        holder[path[^1]] = JsonNode.Parse(value);
        // The proxy checks a request for a statement before it makes requests for pages of it.
        var kind = RequestKinds.OfCallers(type);
        var check = type == ListStatementRequest.Descriptor
            ? (Func<ListStatementRequest, FieldViolation?>)FieldRules.Check
            : (Delegate)kind.GetType().GetProperty(nameof(RequestKinds.Payment.Check))!.GetValue(kind)!;
        return (FieldViolation?)check.DynamicInvoke(JsonParser.Default.Parse(request.ToJsonString(), type));
    }

    private static IEnumerable<string> FieldsOf(MessageDescriptor message, string prefix) =>
        message.Fields.InDeclarationOrder().SelectMany(field => (string[])
        [
            prefix + field.Name,
            .. IsOurs(field) && !field.IsMap ? FieldsOf(field.MessageType, prefix + field.Name + ".") : [],
        ]);

    // Not a message of protobuf's own, such as a time.
    private static bool IsOurs(FieldDescriptor field) =>
        field.FieldType == FieldType.Message && field.MessageType.File == BillingReflection.Descriptor;

    private static string[] MethodsOf(string names) => names == "all"
        ? [.. Requests.Keys]
        : [.. names.Split(", ").SelectMany(name => name == "amounts" ? Amounts : [name])];

    private static string Repeated(string text, int times) =>
        $"\"{string.Concat(Enumerable.Repeat(text, times))}\"";

    // Values in JSON between backquotes; `64 × "a"` is a string of 64 letters.
    private static List<string> Values(string text) =>
    [
        .. Quoted().Matches(text).Select(match => match.Groups[1].Success
            ? Repeated(match.Groups[2].Value.Trim('"'), int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture))
            : match.Groups[2].Value),
    ];

    [GeneratedRegex(
        @"^`(?<field>[a-z_.]+)` \((?<methods>[^)]+)\): .*? Accepted: (?<accepted>.*?)\.(?: Refused: "
        + @"(?<refused>.*)\.)?$")]
    private static partial Regex Limit();

    [GeneratedRegex("(?:([0-9]+) × )?`([^`]+)`")]
    private static partial Regex Quoted();
}
