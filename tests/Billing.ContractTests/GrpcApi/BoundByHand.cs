using Grpc.Core;

namespace Billing.ContractTests.GrpcApi;

/// <summary>A service that is bound without generated code.</summary>
public static class BoundByHand
{
    public static readonly Method<string, string> Reverse = new(
        MethodType.Unary,
        "billing.contracttests.BoundByHand",
        nameof(Reverse),
        Marshallers.StringMarshaller,
        Marshallers.StringMarshaller);

    public static ServerServiceDefinition Definition { get; } = ServerServiceDefinition.CreateBuilder()
        .AddMethod(Reverse, (text, _) => Task.FromResult(string.Concat(text.Reverse())))
        .Build();
}
