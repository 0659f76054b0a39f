using Billing.IntegrationTests.Services;
using Billing.LocalStack;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Examples;

/// <summary>The client of examples/java-client against a real proxy: errors as a library that is
/// not ours reads them.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class JavaClient
{
    private const string Libraries = "/usr/share/java";

    private readonly KafkaStack _stack;

    public JavaClient(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task It_reads_the_reason_the_field_and_the_wait_from_the_details_of_the_status()
    {
        await using var folder = StackFolder.Create();
        var program = await CompileAsync(folder);
        var account = StackFixture.NewAccount();
        var proxy = await _stack.Stack.AddAsync(
            ServiceRole.Proxy, 8, TestContext.Current.CancellationToken, new Dictionary<string, string>
            {
                ["Billing__Limits__RequestsPerSecond"] = "1",
            });
        try
        {
            var ran = await ExternalTool.RunAsync(
                ExternalTool.Need("java"),
                ["-cp", $"{program}:{Libraries}/*", "Pay", new Uri(proxy.Address).Authority, account, "5"]);

            var printed = ran.Succeeded().Output.Split('\n');
            Assert.Equal(
                "INVALID_ARGUMENT INVALID_FIELD of billing.internal, amount.nanos: "
                    + "amount.nanos must be a multiple of 10000000, since USD has 2 decimals; it is 5000000",
                printed[0]);
            Assert.Matches("^paid 5 times, waited [1-9][0-9]* times$", printed[1]);
            Assert.Equal(5, await _stack.CountEventsAsync(account));
        }
        finally
        {
            await _stack.Stack.RemoveAsync(proxy);
        }
    }

    /// <summary>Generates the stubs and compiles the client, as the README of the example describes.</summary>
    private static async Task<string> CompileAsync(StackFolder folder)
    {
        var (protoc, plugin, javac) =
            (ExternalTool.Need("protoc"), ExternalTool.Need("grpc_java_plugin"), ExternalTool.Need("javac"));
        foreach (var jar in (string[])
        [
            "grpc-netty.jar", "grpc-protobuf.jar", "protobuf-util.jar", "proto-google-common-protos.jar",
            "netty-codec-http2.jar", "guava.jar", "perfmark-api.jar", "geronimo-annotation-1.3-spec.jar",
        ])
        {
            Assert.SkipUnless(File.Exists(Path.Combine(Libraries, jar)), $"there is no {Libraries}/{jar}");
        }
        var made = folder.CreateSubfolder("java");
        (await ExternalTool.RunAsync(protoc,
            [
                "-I", "src/Contracts/Protos", "-I", "examples/java-client", "--plugin=protoc-gen-grpc-java=" + plugin,
                "--java_out", made, "--grpc-java_out", made, "billing/v1/billing.proto", "google/rpc/error_info.proto",
            ])).Succeeded();
        (await ExternalTool.RunAsync(javac,
            // Half of a compiler's time would go into compiling itself.
            [
                "-J-XX:TieredStopAtLevel=1", "-cp", Libraries + "/*", "-d", made,
                .. Directory.EnumerateFiles(made, "*.java", SearchOption.AllDirectories),
                "examples/java-client/Pay.java",
            ])).Succeeded();
        return made;
    }
}
