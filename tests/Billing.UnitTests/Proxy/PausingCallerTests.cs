using System.Buffers.Binary;
using System.Net;
using Billing.UnitTests.Testing;
using Google.Protobuf;

namespace Billing.UnitTests.Proxy;

/// <summary>A caller that stops in the middle of its request, as where many processes share a processor.</summary>
public sealed class PausingCallerTests
{
    // Kestrel's own bound of 5 s, and its timer's resolution of 1 s.
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(8);

    [Fact]
    public async Task A_caller_that_pauses_within_its_request_is_answered()
    {
        await using var proxy = await ProxyHost.StartAsync(new FakeBackend());
        using var http = new HttpClient();
        using var request = new HttpRequestMessage(
            HttpMethod.Post, proxy.Address + "/billing.v1.BillingService/MakePayment")
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = new PausingContent(Samples.Payment().ToByteArray()),
            Headers = { { "te", "trailers" } },
        };

        using var response = await http.SendAsync(request);
        await response.Content.LoadIntoBufferAsync();

        Assert.Equal("0", Assert.Single(response.TrailingHeaders.GetValues("grpc-status")));
    }

    private sealed class PausingContent : HttpContent
    {
        private readonly byte[] _message;

        public PausingContent(byte[] message)
        {
            _message = [0, 0, 0, 0, 0, .. message];
            BinaryPrimitives.WriteInt32BigEndian(_message.AsSpan(1), message.Length);
            Headers.ContentType = new("application/grpc");
        }

        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            await stream.WriteAsync(_message.AsMemory(0, 10));
            await stream.FlushAsync();
            await Task.Delay(Pause);
            await stream.WriteAsync(_message.AsMemory(10));
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
