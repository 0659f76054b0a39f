using System.Globalization;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace Billing.UnitTests.House;

/// <summary>The tables of docs/api.md against the rules of the code and the messages of billing.proto.</summary>
public sealed partial class ApiLimitsTests
{
    private static readonly string[] Ids = ["transaction_id", "payment_id"];

    private static readonly string[] Page = Repository.Lines("docs/api.md");

    private static readonly Dictionary<string, (MessageDescriptor Type, Func<IMessage, FieldViolation?> Check)> Requests = new(StringComparer.Ordinal)
    {
        ["MakePayment"] = (MakePaymentRequest.Descriptor, request => FieldRules.Check((MakePaymentRequest)request)),
        ["AuthorisePayment"] = (AuthorisePaymentRequest.Descriptor, request => FieldRules.Check((AuthorisePaymentRequest)request)),
        ["CapturePayment"] = (CapturePaymentRequest.Descriptor, request => FieldRules.Check((CapturePaymentRequest)request)),
        ["VoidPayment"] = (VoidPaymentRequest.Descriptor, request => FieldRules.Check((VoidPaymentRequest)request)),
        ["RefundPayment"] = (RefundPaymentRequest.Descriptor, request => FieldRules.Check((RefundPaymentRequest)request)),
        ["CheckBalance"] = (CheckBalanceRequest.Descriptor, request => FieldRules.Check((CheckBalanceRequest)request)),
        ["GetTransaction"] = (GetTransactionRequest.Descriptor, request => FieldRules.Check((GetTransactionRequest)request)),
        ["GetBalanceAt"] = (GetBalanceAtRequest.Descriptor, request => FieldRules.Check((GetBalanceAtRequest)request)),
        ["ListStatement"] = (ListStatementRequest.Descriptor, request => FieldRules.Check((ListStatementRequest)request)),
        ["SetAccountStatus"] = (SetAccountStatusRequest.Descriptor, request => FieldRules.Check((SetAccountStatusRequest)request)),
        ["SetCreditLimit"] = (SetCreditLimitRequest.Descriptor, request => FieldRules.Check((SetCreditLimitRequest)request)),
    };

    public static TheoryData<string, string, string, string> Rows => [.. Limits().Select(row => (row[0], row[1].Trim('`'), row[3], row[4]))];

    [Theory]
    [MemberData(nameof(Rows))]
    public void The_rules_accept_and_refuse_the_values_of_a_field(string methods, string field, string accepted, string refused)
    {
        foreach (var method in MethodsOf(methods))
        {
            Assert.All(Values(accepted), value => Assert.Null(Check(method, field, value)));
            Assert.All(Values(refused), value => Assert.Equal(field, Check(method, field, value)?.Field));
        }
    }

    [Fact]
    public void Every_field_of_every_request_has_limits() => Assert.Equal(
        Requests.SelectMany(request => FieldsOf(request.Value.Type, "").Select(field => $"{request.Key} {field}")).Order(StringComparer.Ordinal),
        Limits().SelectMany(row => MethodsOf(row[0]).Select(method => $"{method} {row[1].Trim('`')}")).Order(StringComparer.Ordinal));

    [Fact]
    public void Every_method_is_on_the_page()
    {
        var text = string.Join('\n', Page);
        Assert.All(BillingReflection.Descriptor.Services.SelectMany(service => service.Methods), method => Assert.Contains(method.Name, text, StringComparison.Ordinal));
        Assert.Subset(
            Requests.Values.Select(request => request.Type).ToHashSet(),
            BillingReflection.Descriptor.Services.SelectMany(service => service.Methods).Select(method => method.InputType).ToHashSet());
    }

    [Fact]
    public void Every_field_of_every_answer_is_on_the_page() => Assert.Equal(
        BillingReflection.Descriptor.MessageTypes.Except(Requests.Values.Select(request => request.Type))
            .Select(message => Row(message.Name, message.Fields.InDeclarationOrder().Select(field => field.Name)))
            .Order(StringComparer.Ordinal),
        Table("| message | fields |")
            .Select(row => Row(row[0], Quoted().Matches(row[1]).Select(match => match.Groups[2].Value)))
            .Order(StringComparer.Ordinal));

    private static string Row(string message, IEnumerable<string> fields) =>
        $"{message}: {string.Join(' ', fields.Order(StringComparer.Ordinal))}";

    private static FieldViolation? Check(string method, string field, string value)
    {
        var (type, check) = Requests[method];
        var request = new JsonObject
        {
            ["account_id"] = "a",
            ["payment_type"] = "PAYMENT_TYPE_VISA",
        };
        foreach (var id in Ids.Where(name => type.FindFieldByName(name) is not null))
        {
            request[id] = "01234567-89ab-cdef-0123-456789abcdef";
        }
        if (type.Fields.InDeclarationOrder().FirstOrDefault(f => IsOurs(f) && f.MessageType == Money.Descriptor) is { } money)
        {
            request[money.Name] = new JsonObject { ["currency_code"] = "USD", ["units"] = 1 };
        }
        foreach (var status in type.Fields.InDeclarationOrder().Where(f => f.FieldType == FieldType.Enum && f.EnumType.Name == nameof(AccountStatus)))
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
        return check(JsonParser.Default.Parse(request.ToJsonString(), type));
    }

    private static IEnumerable<string> FieldsOf(MessageDescriptor message, string prefix) =>
        message.Fields.InDeclarationOrder().SelectMany(field => (string[])
        [
            prefix + field.Name,
            .. IsOurs(field) && !field.IsMap ? FieldsOf(field.MessageType, prefix + field.Name + ".") : [],
        ]);

    // Not a message of protobuf's own, such as a time.
    private static bool IsOurs(FieldDescriptor field) => field.FieldType == FieldType.Message && field.MessageType.File == BillingReflection.Descriptor;

    private static string[] MethodsOf(string cell) => cell == "all" ? [.. Requests.Keys] : cell.Split(", ");

    private static string Repeated(string text, int times) =>
        $"\"{string.Concat(Enumerable.Repeat(text, times))}\"";

    // Values in JSON between backquotes; `64 × "a"` is a string of 64 letters.
    private static List<string> Values(string cell) =>
    [
        .. Quoted().Matches(cell).Select(match => match.Groups[1].Success
            ? Repeated(match.Groups[2].Value.Trim('"'), int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture))
            : match.Groups[2].Value),
    ];

    private static List<string[]> Limits() => Table("| method | field | must be | accepted | refused |");

    private static List<string[]> Table(string head)
    {
        List<string[]> rows =
        [
            .. Page.SkipWhile(line => line != head).Skip(2).TakeWhile(line => line.StartsWith('|'))
                .Select(line => line.Trim('|').Split('|').Select(cell => cell.Trim()).ToArray()),
        ];
        Assert.NotEmpty(rows);
        return rows;
    }

    [GeneratedRegex("(?:([0-9]+) × )?`([^`]+)`")]
    private static partial Regex Quoted();
}
