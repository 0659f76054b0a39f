using System.Text.Json;
using Billing.DeploymentTests.Protocol;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.DeploymentTests.Terraform;

/// <summary>A provider that knows AWS's schema and no AWS: Terraform itself compares the modules with the schema. Plans have
/// whatever the modules say and leave open what AWS would say; data sources answer with made-up values.</summary>
internal sealed class SchemaProvider(AwsSchema schema) : Provider.ProviderBase
{
    private static readonly Dictionary<string, string> MadeUp = new()
    {
        ["account_id"] = "123456789012",
        ["partition"] = "aws",
        ["id"] = "ami-0123456789abcdef0",
    };

    public override Task<GetProviderSchema.Types.Response> GetSchema(GetProviderSchema.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new GetProviderSchema.Types.Response
        {
            Provider = schema.Provider,
            ResourceSchemas = { schema.Resources.ToDictionary() },
            DataSourceSchemas = { schema.Data.ToDictionary() },
        });

    public override Task<PrepareProviderConfig.Types.Response> PrepareProviderConfig(
        PrepareProviderConfig.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new PrepareProviderConfig.Types.Response { PreparedConfig = request.Config });

    public override Task<ValidateConfig.Types.Response> ValidateResourceTypeConfig(
        ValidateConfig.Types.Request request, ServerCallContext context) => Task.FromResult(new ValidateConfig.Types.Response());

    public override Task<ValidateConfig.Types.Response> ValidateDataSourceConfig(
        ValidateConfig.Types.Request request, ServerCallContext context) => Task.FromResult(new ValidateConfig.Types.Response());

    public override Task<Configure.Types.Response> Configure(Configure.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new Configure.Types.Response());

    public override Task<Stop.Types.Response> Stop(Stop.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new Stop.Types.Response());

    public override Task<ReadDataSource.Types.Response> ReadDataSource(ReadDataSource.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new ReadDataSource.Types.Response
        {
            State = FillIn(request.Config, schema.Data[request.TypeName], MakeUp),
        });

    public override Task<PlanResourceChange.Types.Response> PlanResourceChange(
        PlanResourceChange.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new PlanResourceChange.Types.Response
        {
            PlannedState = FillIn(request.ProposedNewState, schema.Resources[request.TypeName], _ => MessagePackMap.Unknown),
        });

    /// <summary>Puts a value wherever the provider would compute one.</summary>
    private static DynamicValue FillIn(DynamicValue resource, Schema schema, Func<Schema.Types.Attribute, byte[]> value)
    {
        var computed = schema.Block.Attributes.Where(attribute => attribute.Computed).ToDictionary(attribute => attribute.Name);
        var filled = MessagePackMap.Rewrite(
            resource.Msgpack.Span,
            (name, old) => old.AsSpan().SequenceEqual(MessagePackMap.Null) && computed.TryGetValue(name, out var attribute) ? value(attribute) : old);
        return new DynamicValue { Msgpack = ByteString.CopyFrom(filled) };
    }

    private static byte[] MakeUp(Schema.Types.Attribute attribute)
    {
        using var type = JsonDocument.Parse(attribute.Type.Memory);
        var kind = type.RootElement.ValueKind == JsonValueKind.Array ? type.RootElement[0].GetString() : type.RootElement.GetString();
        return kind switch
        {
            "string" => MessagePackMap.Text(MadeUp.GetValueOrDefault(attribute.Name, "made up")),
            "number" => MessagePackMap.Zero,
            "bool" => MessagePackMap.True,
            "map" => MessagePackMap.EmptyMap,
            _ => MessagePackMap.EmptyList,
        };
    }
}
