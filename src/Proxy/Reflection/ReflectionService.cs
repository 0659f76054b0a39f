using Billing.Contracts.Reflection.V1;
using Grpc.Core;

namespace Billing.Proxy.Reflection;

/// <summary>The standard gRPC server reflection service, so that tools can list, describe and call the services without their
/// .proto files.</summary>
/// <param name="index">The services and files to answer from.</param>
public sealed class ReflectionService(DescriptorIndex index) : ServerReflection.ServerReflectionBase
{
    private readonly ReflectionAnswers _answers = new(index);

    /// <summary>Answers the requests in order until the caller ends the stream.</summary>
    public override async Task ServerReflectionInfo(
        IAsyncStreamReader<ServerReflectionRequest> requestStream,
        IServerStreamWriter<ServerReflectionResponse> responseStream,
        ServerCallContext context)
    {
        await foreach (var request in requestStream.ReadAllAsync(context.CancellationToken))
        {
            await responseStream.WriteAsync(_answers.Answer(request), context.CancellationToken);
        }
    }
}
