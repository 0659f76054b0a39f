using Billing.ContractTests.Protos;
using Grpc.Core;
using Grpc.Core.Interceptors;
using Grpc.Net.Client;
using Grpc.Net.Compression;

namespace Billing.ContractTests.GrpcApi;

public sealed class HeaderTests(EchoServer server) : IClassFixture<EchoServer>
{
    [Fact]
    public async Task Text_and_binary_headers_are_sent_and_returned_unchanged()
    {
        var headers = new Metadata { { "X-Echo", "one" }, { "x-echo", "two" }, { "x-echo-bin", [0, 10, 255] } };
        using var call = server.Client.SayAsync(new EchoRequest(), headers);

        var responseHeaders = await call.ResponseHeadersAsync;
        await call;

        foreach (var received in new[] { responseHeaders, call.GetTrailers() })
        {
            // Two entries with the same key are combined into one header line (RFC 9110, 5.3).
            Assert.Equal("one, two", Assert.Single(received.GetAll("x-echo")).Value);
            Assert.Equal(new byte[] { 0, 10, 255 }, received.GetValueBytes("x-echo-bin"));
        }
    }

    [Fact]
    public async Task Call_credentials_add_their_headers()
    {
        var first = CallCredentials.FromInterceptor((context, metadata) =>
        {
            metadata.Add("x-echo-method", context.MethodName);
            metadata.Add("x-echo-url", context.ServiceUrl);
            return Task.CompletedTask;
        });
        var second = CallCredentials.FromInterceptor((_, metadata) =>
        {
            metadata.Add("x-echo-second", "yes");
            return Task.CompletedTask;
        });
        using var channel = GrpcChannel.ForAddress(
            server.Address, new GrpcChannelOptions { UnsafeUseInsecureChannelCallCredentials = true });
        var options = new CallOptions(credentials: CallCredentials.Compose(first, second));
        using var call = new Echo.EchoClient(channel).SayAsync(new EchoRequest(), options);
        await call;

        Assert.Equal("Say", call.GetTrailers().GetValue("x-echo-method"));
        string url = call.GetTrailers().GetValue("x-echo-url")!;
        Assert.Equal(new Uri(server.Address, "billing.contracttests.Echo"), new Uri(url));
        Assert.Equal("yes", call.GetTrailers().GetValue("x-echo-second"));
    }

    [Fact]
    public void Call_credentials_combine_with_any_channel_credentials_and_are_composed_of_two_or_more()
    {
        var credentials = CallCredentials.FromInterceptor((_, _) => Task.CompletedTask);

        Assert.Throws<ArgumentException>(() => CallCredentials.Compose(credentials));
        Assert.NotNull(ChannelCredentials.Create(ChannelCredentials.Insecure, credentials));
        Assert.NotNull(ChannelCredentials.Create(ChannelCredentials.SecureSsl, credentials));
        Assert.Throws<ArgumentNullException>(() => CallCredentials.FromInterceptor(null!));
    }

    [Fact]
    public async Task Channel_credentials_must_match_the_scheme_of_the_address()
    {
        using var insecure = GrpcChannel.ForAddress(
            server.Address, new GrpcChannelOptions { Credentials = ChannelCredentials.Insecure });

        Assert.Equal("a", (await new Echo.EchoClient(insecure).SayAsync(new EchoRequest { Text = "a" })).Text);
        Assert.Throws<InvalidOperationException>(() => GrpcChannel.ForAddress(
            server.Address, new GrpcChannelOptions { Credentials = ChannelCredentials.SecureSsl }));
        Assert.Equal(server.Address.Authority, insecure.Target);
    }

    [Theory]
    [InlineData("gzip")]
    [InlineData("deflate")]
    public async Task A_compressed_request_is_decompressed_by_the_server(string encoding)
    {
        using var channel = GrpcChannel.ForAddress(server.Address, new GrpcChannelOptions
        {
            CompressionProviders =
            [
                new GzipCompressionProvider(System.IO.Compression.CompressionLevel.Fastest),
                new DeflateCompressionProvider(System.IO.Compression.CompressionLevel.Fastest),
            ],
        });
        string text = new('z', 10_000);
        var headers = new Metadata { { "grpc-internal-encoding-request", encoding } };

        var reply = await new Echo.EchoClient(channel).SayAsync(new EchoRequest { Text = text }, headers);

        Assert.Equal(text, reply.Text);
    }

    [Theory]
    [InlineData("gzip")]
    [InlineData("deflate")]
    public void A_compression_provider_decompresses_what_it_compressed(string encoding)
    {
        ICompressionProvider provider = encoding == "gzip"
            ? new GzipCompressionProvider(System.IO.Compression.CompressionLevel.Fastest)
            : new DeflateCompressionProvider(System.IO.Compression.CompressionLevel.Fastest);
        using var compressed = new MemoryStream();
        using (var compression = provider.CreateCompressionStream(compressed, null))
        {
            compression.Write("hello"u8);
        }

        using var reader = new StreamReader(provider.CreateDecompressionStream(new MemoryStream(compressed.ToArray())));

        Assert.Equal(encoding, provider.EncodingName);
        Assert.Equal("hello", reader.ReadToEnd());
    }

    [Fact]
    public async Task A_header_interceptor_replaces_the_headers()
    {
        var client = new Echo.EchoClient(server.Channel.Intercept(headers => [.. headers, new("x-echo-added", "yes")]));
        using var call = client.SayAsync(new EchoRequest());
        await call;

        Assert.Equal("yes", call.GetTrailers().GetValue("x-echo-added"));
    }
}
