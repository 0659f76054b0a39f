using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace Billing.UnitTests.Contracts;

/// <summary>The contracts against the record of them: what callers, and backends in other languages, were given once,
/// they keep.</summary>
public sealed class RecordedContractTests
{
    private static readonly FileDescriptor Api = BillingReflection.Descriptor;
    private static readonly FileDescriptor Wire = WireReflection.Descriptor;

    private static readonly Dictionary<string, Func<FileDescriptor>> Breaks = new(StringComparer.Ordinal)
    {
        ["a field is removed"] = () => Changed(Api, file => Message(file, "Money").Field.RemoveAt(2)),
        ["a field is renumbered"] = () => Changed(Api, file => Message(file, "Money").Field[2].Number = 4),
        ["a field gets another type"] = () =>
            Changed(Api, file => Message(file, "Money").Field[1].Type = FieldDescriptorProto.Types.Type.Int32),
        ["a field gets another message"] = () =>
            Changed(Api, file => Message(file, "MakePaymentResponse").Field[6].TypeName = ".billing.v1.Money"),
        ["a field is renamed"] = () => Changed(Api, file => Message(file, "Money").Field[2].Name = "billionths"),
        ["a field becomes a list"] = () =>
            Changed(Api, file => Message(file, "Money").Field[1].Label = FieldDescriptorProto.Types.Label.Repeated),
        ["a field leaves its oneof"] = () =>
            Changed(Wire, file => Message(file, "PaymentStatus").Field[1].ClearOneofIndex()),
        ["a message is removed"] = () => Changed(Wire, file => file.MessageType.Remove(Message(file, "Event"))),
        ["a message is renamed"] = () => Changed(Wire, file => Message(file, "Event").Name = "Fact"),
        ["a value of an enum is removed"] = () => Changed(Api, file => Enum(file, "PaymentType").Value.RemoveAt(4)),
        ["a value of an enum is renumbered"] = () =>
            Changed(Api, file => Enum(file, "PaymentType").Value[4].Number = 5),
        ["a value of an enum is renamed"] = () =>
            Changed(Api, file => Enum(file, "PaymentType").Value[4].Name = "AMEX"),
        ["a method is removed"] = () => Changed(Api, file => file.Service[0].Method.RemoveAt(2)),
        ["a method is renamed"] = () => Changed(Api, file => file.Service[0].Method[2].Name = "ReadBalance"),
        ["a method answers with a stream"] = () =>
            Changed(Api, file => file.Service[0].Method[0].ServerStreaming = true),
        ["a method answers with another message"] = () =>
            Changed(Api, file => file.Service[0].Method[0].OutputType = ".billing.v1.Money"),
        ["a service is removed"] = () => Changed(Api, file => file.Service.RemoveAt(1)),
        ["the package is renamed"] = () => Built(FileDescriptorProto.Parser.ParseJson(
            JsonFormatter.Default.Format(Api.ToProto()).Replace("billing.v1", "billing.v2", StringComparison.Ordinal))),
    };

    public static TheoryData<string> BreaksByName => [.. Breaks.Keys];

    /// <summary>A change that adds to a contract records it by running this test with BILLING_WRITE_PROTO=1.</summary>
    [Fact]
    public void What_was_recorded_of_the_contracts_is_unchanged_and_all_of_it_is_recorded()
    {
        var path = Path.Combine(Repository.Root, "src/Contracts/Protos/recorded.txt");
        List<string> present = [.. Lines(Api), .. Lines(Wire)];
        if (Environment.GetEnvironmentVariable("BILLING_WRITE_PROTO") == "1")
        {
            File.WriteAllLines(path, present.Union(File.ReadAllLines(path)).Order(StringComparer.Ordinal));
        }

        Assert.Equal(present.Order(StringComparer.Ordinal), File.ReadAllLines(path).Order(StringComparer.Ordinal));
    }

    [Theory]
    [MemberData(nameof(BreaksByName))]
    public void A_break_of_a_contract_is_found(string change)
    {
        var broken = Breaks[change]();

        Assert.NotEmpty(Lines(broken.Name == Api.Name ? Api : Wire).Except(Lines(broken)));
    }

    [Fact]
    public void What_is_only_added_or_deprecated_is_no_break()
    {
        var added = Changed(Api, file =>
        {
            Message(file, "Money").Field.Add(new FieldDescriptorProto
            {
                Name = "added",
                Number = 4,
                Type = FieldDescriptorProto.Types.Type.String,
                Label = FieldDescriptorProto.Types.Label.Optional,
            });
            Message(file, "Money").Field[2].Options = new FieldOptions { Deprecated = true };
            Enum(file, "PaymentType").Value
                .Add(new EnumValueDescriptorProto { Name = "PAYMENT_TYPE_DINERS", Number = 5 });
            file.Service[0].Method.Add(new MethodDescriptorProto
            {
                Name = "Added",
                InputType = ".billing.v1.Money",
                OutputType = ".billing.v1.Money",
            });
        });

        Assert.Empty(Lines(Api).Except(Lines(added)));
        Assert.Equal(
            [
                "field billing.v1.Money.added = 4: String", "value billing.v1.PaymentType.PAYMENT_TYPE_DINERS = 5",
                "rpc billing.v1.BillingService.Added(billing.v1.Money) returns (billing.v1.Money)",
            ],
            Lines(added).Except(Lines(Api)));
    }

    private static FileDescriptor Changed(FileDescriptor file, Action<FileDescriptorProto> change)
    {
        var changed = file.ToProto();
        change(changed);
        return Built(changed);
    }

    private static FileDescriptor Built(FileDescriptorProto file)
    {
        var dependencies = file.Name == Api.Name
            ? Api.Dependencies
            : [.. Api.Dependencies, .. Wire.Dependencies.Except(Api.Dependencies)];
        return FileDescriptor.BuildFromByteStrings(
            [.. dependencies.Select(dependency => dependency.SerializedData), file.ToByteString()])[^1];
    }

    private static DescriptorProto Message(FileDescriptorProto file, string name) =>
        file.MessageType.Single(message => message.Name == name);

    private static EnumDescriptorProto Enum(FileDescriptorProto file, string name) =>
        file.EnumType.Single(values => values.Name == name);

    private static List<string> Lines(FileDescriptor file) =>
    [
        .. file.MessageTypes.SelectMany(Lines),
        .. file.EnumTypes.SelectMany(Lines),
        .. file.Services.SelectMany(service => service.Methods).Select(method =>
            $"rpc {method.FullName}({Stream(method.IsClientStreaming)}{method.InputType.FullName}) returns "
            + $"({Stream(method.IsServerStreaming)}{method.OutputType.FullName})"),
    ];

    private static IEnumerable<string> Lines(MessageDescriptor message) =>
    [
        .. message.Fields.InDeclarationOrder().Select(field =>
            $"field {field.FullName} = {field.FieldNumber}: {(field.IsRepeated ? "repeated " : "")}{TypeOf(field)}"
            + $"{(field.ContainingOneof is { } oneof ? " in " + oneof.Name : "")}"),
        .. message.NestedTypes.SelectMany(Lines),
        .. message.EnumTypes.SelectMany(Lines),
    ];

    private static IEnumerable<string> Lines(EnumDescriptor values) =>
        values.Values.Select(value => $"value {value.FullName} = {value.Number}");

    private static string TypeOf(FieldDescriptor field) => field.FieldType switch
    {
        FieldType.Message => field.MessageType.FullName,
        FieldType.Enum => field.EnumType.FullName,
        var other => other.ToString(),
    };

    private static string Stream(bool isStream) => isStream ? "stream " : "";
}
