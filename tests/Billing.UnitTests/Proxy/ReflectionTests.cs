using Google.Protobuf.Reflection;
using Grpc.AspNetCore.Server;
using Grpc.Core;
using Grpc.Reflection.V1;
using Alpha = Grpc.Reflection.V1Alpha;

namespace Billing.UnitTests.Proxy;

/// <summary>What a proxy tells callers' tools, such as grpcurl, by server reflection.</summary>
public sealed class ReflectionTests
{
    [Fact]
    public async Task Every_service_that_a_proxy_serves_is_listed_and_found()
    {
        await using var proxy = await ProxyHost.StartAsync(new FakeBackend());
        var served = proxy.Endpoints
            .Select(endpoint => endpoint.Metadata.GetMetadata<GrpcMethodMetadata>()?.Method.ServiceName)
            .OfType<string>().ToHashSet();

        var listed = await AskAsync(proxy, new() { ListServices = "*" });

        Assert.Contains("billing.v1.BillingService", served);
        Assert.Equal(served, listed.ListServicesResponse.Service.Select(service => service.Name).ToHashSet());
        foreach (var service in served)
        {
            Assert.NotNull((await AskAsync(proxy, new() { FileContainingSymbol = service })).FileDescriptorResponse);
        }
    }

    [Theory]
    [InlineData("google.rpc.ErrorInfo", "google/rpc/error_details.proto")]
    [InlineData("google.rpc.BadRequest", "google/rpc/error_details.proto")]
    [InlineData("google.rpc.RetryInfo", "google/rpc/error_details.proto")]
    [InlineData("google.rpc.Status", "google/rpc/status.proto")]
    public async Task The_messages_in_the_details_of_errors_are_found_with_what_they_import(string message, string file)
    {
        await using var proxy = await ProxyHost.StartAsync(new FakeBackend());

        var answer = await AskAsync(proxy, new() { FileContainingSymbol = message });

        var files = answer.FileDescriptorResponse.FileDescriptorProto.Select(FileDescriptorProto.Parser.ParseFrom)
            .ToDictionary(found => found.Name);
        Assert.Contains(message, files[file].MessageType.Select(type => $"{files[file].Package}.{type.Name}"));
        Assert.Empty(files.Values.SelectMany(found => found.Dependency).Except(files.Keys));
    }

    [Fact]
    public async Task Tools_that_speak_the_older_version_find_the_same()
    {
        await using var proxy = await ProxyHost.StartAsync(new FakeBackend());
        using var call = new Alpha.ServerReflection.ServerReflectionClient(proxy.Invoker).ServerReflectionInfo();

        await call.RequestStream.WriteAsync(new() { FileContainingSymbol = "google.rpc.ErrorInfo" });
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));

        var current = await AskAsync(proxy, new() { FileContainingSymbol = "google.rpc.ErrorInfo" });
        Assert.Equal(
            current.FileDescriptorResponse.FileDescriptorProto,
            call.ResponseStream.Current.FileDescriptorResponse.FileDescriptorProto);
    }

    [Fact]
    public async Task What_no_file_has_is_not_found()
    {
        await using var proxy = await ProxyHost.StartAsync(new FakeBackend());

        var answer = await AskAsync(proxy, new() { FileContainingSymbol = "billing.v1.Nothing" });

        Assert.Equal((int)StatusCode.NotFound, answer.ErrorResponse.ErrorCode);
    }

    private static async Task<ServerReflectionResponse> AskAsync(ProxyHost proxy, ServerReflectionRequest question)
    {
        using var call = new ServerReflection.ServerReflectionClient(proxy.Invoker).ServerReflectionInfo();
        await call.RequestStream.WriteAsync(question);
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        var answer = call.ResponseStream.Current;
        await call.RequestStream.CompleteAsync();
        return answer;
    }
}
