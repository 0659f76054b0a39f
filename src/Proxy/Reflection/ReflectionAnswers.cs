using Billing.Contracts.Reflection.V1;
using Google.Protobuf.Reflection;
using Grpc.Core;

namespace Billing.Proxy.Reflection;

/// <summary>Answers one reflection request at a time, for every version of the protocol.</summary>
/// <param name="index">The services and files to answer from.</param>
internal sealed class ReflectionAnswers(DescriptorIndex index)
{
    public ServerReflectionResponse Answer(ServerReflectionRequest request)
    {
        var response = request.MessageRequestCase switch
        {
            ServerReflectionRequest.MessageRequestOneofCase.ListServices => Services(),
            ServerReflectionRequest.MessageRequestOneofCase.FileByFilename =>
                File(index.FindFile(request.FileByFilename), $"file \"{request.FileByFilename}\""),
            ServerReflectionRequest.MessageRequestOneofCase.FileContainingSymbol =>
                File(
                    index.FindFileBySymbol(request.FileContainingSymbol),
                    $"symbol \"{request.FileContainingSymbol}\""),
            ServerReflectionRequest.MessageRequestOneofCase.FileContainingExtension or
                ServerReflectionRequest.MessageRequestOneofCase.AllExtensionNumbersOfType =>
                Error(StatusCode.NotFound, "there are no extensions"),
            _ => Error(StatusCode.InvalidArgument, "message_request is not set"),
        };
        response.ValidHost = request.Host;
        response.OriginalRequest = request;
        return response;
    }

    private ServerReflectionResponse Services()
    {
        var services = new ListServiceResponse();
        services.Service.AddRange(index.ServiceNames.Select(name => new ServiceResponse { Name = name }));
        return new ServerReflectionResponse { ListServicesResponse = services };
    }

    private static ServerReflectionResponse File(FileDescriptor? file, string what)
    {
        if (file is null)
        {
            return Error(StatusCode.NotFound, $"{what} not found");
        }

        var files = new FileDescriptorResponse();
        files.FileDescriptorProto.AddRange(DescriptorIndex.WithImports(file).Select(found => found.SerializedData));
        return new ServerReflectionResponse { FileDescriptorResponse = files };
    }

    private static ServerReflectionResponse Error(StatusCode code, string message) =>
        new() { ErrorResponse = new ErrorResponse { ErrorCode = (int)code, ErrorMessage = message } };
}
