using System.Text.Json;
using Billing.DeploymentTests.Protocol;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.DeploymentTests.Terraform;

/// <summary>A provider that has AWS's schema but no access to AWS: Terraform itself compares the modules
/// with the schema. In plans, the values that AWS would compute are unknown; after apply and in data
/// sources, they are invented.</summary>
internal sealed class SchemaProvider(AwsSchema schema) : Provider.ProviderBase
{
    private static readonly Dictionary<string, string> MadeUp = new()
    {
        ["account_id"] = "123456789012",
        ["partition"] = "aws",
        ["id"] = "ami-0123456789abcdef0",
    };

    public override Task<GetProviderSchema.Types.Response> GetSchema(
        GetProviderSchema.Types.Request request, ServerCallContext context) =>
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
        ValidateConfig.Types.Request request, ServerCallContext context) =>
            Task.FromResult(new ValidateConfig.Types.Response());

    public override Task<ValidateConfig.Types.Response> ValidateDataSourceConfig(
        ValidateConfig.Types.Request request, ServerCallContext context) =>
            Task.FromResult(new ValidateConfig.Types.Response());

    public override Task<Configure.Types.Response> Configure(
        Configure.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new Configure.Types.Response());

    public override Task<Stop.Types.Response> Stop(Stop.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new Stop.Types.Response());

    public override Task<ReadDataSource.Types.Response> ReadDataSource(
        ReadDataSource.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new ReadDataSource.Types.Response
        {
            State = FillIn(request.Config, schema.Data[request.TypeName], MessagePackMap.Null, MakeUp),
        });

    public override Task<PlanResourceChange.Types.Response> PlanResourceChange(
        PlanResourceChange.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new PlanResourceChange.Types.Response
        {
            PlannedState = FillIn(
                request.ProposedNewState, schema.Resources[request.TypeName],
                MessagePackMap.Null, _ => MessagePackMap.Unknown),
        });

    public override Task<ApplyResourceChange.Types.Response> ApplyResourceChange(
        ApplyResourceChange.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new ApplyResourceChange.Types.Response
        {
            NewState = FillIn(request.PlannedState, schema.Resources[request.TypeName], MessagePackMap.Unknown, MakeUp),
        });

    public override Task<UpgradeResourceState.Types.Response> UpgradeResourceState(
        UpgradeResourceState.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new UpgradeResourceState.Types.Response
        {
            UpgradedState = new DynamicValue { Json = request.RawState.Json },
        });

    public override Task<ReadResource.Types.Response> ReadResource(
        ReadResource.Types.Request request, ServerCallContext context) =>
        Task.FromResult(new ReadResource.Types.Response { NewState = request.CurrentState });

    /// <summary>Sets the values that the provider would compute and that are not set yet.</summary>
    private static DynamicValue FillIn(
        DynamicValue resource, Schema schema, byte[] none, Func<Schema.Types.Attribute, byte[]> value)
    {
        if (resource.Msgpack.Span.SequenceEqual(MessagePackMap.Null))
        {
            return resource;
        }
        var computed = schema.Block.Attributes.Where(attribute => attribute.Computed)
            .ToDictionary(attribute => attribute.Name);
        var filled = MessagePackMap.Rewrite(
            resource.Msgpack.Span,
            (name, old) => old.AsSpan().SequenceEqual(none) && computed.TryGetValue(name, out var attribute)
                ? value(attribute)
                : old);
        return new DynamicValue { Msgpack = ByteString.CopyFrom(filled) };
    }

    private static byte[] MakeUp(Schema.Types.Attribute attribute)
    {
        using var type = JsonDocument.Parse(attribute.Type.Memory);
        var kind = type.RootElement.ValueKind == JsonValueKind.Array
            ? type.RootElement[0].GetString()
            : type.RootElement.GetString();
        return kind switch
        {
            "string" => MessagePackMap.Text(MadeUp.GetValueOrDefault(attribute.Name, "made-up")),
            "number" => MessagePackMap.Zero,
            "bool" => MessagePackMap.True,
            "map" => MessagePackMap.EmptyMap,
            _ => MessagePackMap.EmptyList,
        };
    }
}
