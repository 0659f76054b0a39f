using Billing.Contracts.Reflection.V1Alpha;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Proxy.Reflection;

/// <summary>
/// The v1alpha version of the reflection service, which older tools use. Its messages have the same encoding as those of
/// <see cref="ReflectionService"/>, so they are answered by the same code.
/// </summary>
/// <param name="index">The services and files to answer from.</param>
public sealed class ReflectionV1AlphaService(DescriptorIndex index) : ServerReflection.ServerReflectionBase
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
            var answer = _answers.Answer(Contracts.Reflection.V1.ServerReflectionRequest.Parser.ParseFrom(request.ToByteString()));
            await responseStream.WriteAsync(
                ServerReflectionResponse.Parser.ParseFrom(answer.ToByteString()), context.CancellationToken);
        }
    }
}
