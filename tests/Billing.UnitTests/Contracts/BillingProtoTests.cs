using Billing.V1;
using Google.Protobuf.Reflection;

namespace Billing.UnitTests.Contracts;

/// <summary>The public API against the record of it: what callers were given once, they keep.</summary>
public sealed class BillingProtoTests
{
    private static readonly string File = Path.Combine(Repository.Root, "src", "Contracts", "Protos", "recorded.txt");

    /// <summary>A change that adds to the API records it by running this test with BILLING_WRITE_PROTO=1.</summary>
    [Fact]
    public void What_was_recorded_of_billing_proto_is_unchanged_and_all_of_it_is_recorded()
    {
        var present = Lines(BillingReflection.Descriptor).Order(StringComparer.Ordinal).ToList();
        if (Environment.GetEnvironmentVariable("BILLING_WRITE_PROTO") == "1")
        {
            System.IO.File.WriteAllLines(File, present.Union(Recorded()).Order(StringComparer.Ordinal));
        }

        Assert.Empty(Recorded().Except(present));
        Assert.Empty(present.Except(Recorded()));
    }

    private static string[] Recorded() => System.IO.File.Exists(File) ? System.IO.File.ReadAllLines(File) : [];

    private static IEnumerable<string> Lines(FileDescriptor file) =>
    [
        .. file.MessageTypes.SelectMany(Lines),
        .. file.EnumTypes.SelectMany(Lines),
        .. file.Services.SelectMany(service => service.Methods).Select(method =>
            $"rpc {method.FullName}({Stream(method.IsClientStreaming)}{method.InputType.FullName}) returns ({Stream(method.IsServerStreaming)}{method.OutputType.FullName})"),
    ];

    private static IEnumerable<string> Lines(MessageDescriptor message) =>
    [
        .. message.Fields.InDeclarationOrder().Select(field =>
            $"field {field.FullName} = {field.FieldNumber}: {(field.IsRepeated ? "repeated " : "")}{TypeOf(field)}{(field.ContainingOneof is { } oneof ? " in " + oneof.Name : "")}"),
        .. message.NestedTypes.SelectMany(Lines),
        .. message.EnumTypes.SelectMany(Lines),
    ];

    private static IEnumerable<string> Lines(EnumDescriptor values) => values.Values.Select(value => $"value {value.FullName} = {value.Number}");

    private static string TypeOf(FieldDescriptor field) => field.FieldType switch
    {
        FieldType.Message => field.MessageType.FullName,
        FieldType.Enum => field.EnumType.FullName,
        var other => other.ToString(),
    };

    private static string Stream(bool isStream) => isStream ? "stream " : "";
}
