using Billing.Contracts.Reflection.V1Alpha;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Proxy.Reflection;

/// <summary>
/// The first version of the reflection service, which older tools ask for. Its messages are the same bytes as those of
/// <see cref="ReflectionService"/>, so they are answered by the same code.
/// </summary>
/// <param name="index">What to tell.</param>
public sealed class ReflectionV1AlphaService(DescriptorIndex index) : ServerReflection.ServerReflectionBase
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
            var answer = _answers.Answer(Contracts.Reflection.V1.ServerReflectionRequest.Parser.ParseFrom(request.ToByteString()));
            await responseStream.WriteAsync(
                ServerReflectionResponse.Parser.ParseFrom(answer.ToByteString()), context.CancellationToken);
        }
    }
}
