using Billing.Contracts.Reflection.V1;
using Grpc.Core;

namespace Billing.Proxy.Reflection;

/// <summary>The standard server reflection service, so that tools list, describe and call without files.</summary>
/// <param name="index">What to tell.</param>
public sealed class ReflectionService(DescriptorIndex index) : ServerReflection.ServerReflectionBase
{
    private readonly ReflectionAnswers _answers = new(index);

    /// <summary>Answers each request in turn until the caller has no more.</summary>
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
