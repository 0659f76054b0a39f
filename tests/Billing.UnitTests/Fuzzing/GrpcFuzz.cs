using System.Buffers.Binary;
using System.IO.Compression;
using System.Net;
using System.Net.Http.Headers;
using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using Google.Protobuf;
using Grpc.AspNetCore.Server;
using Grpc.Core;
using ErrorInfo = Google.Rpc.ErrorInfo;
using Status = Google.Rpc.Status;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Hostile bodies of gRPC calls, on every method of a proxy, and hostile frames of HTTP/2.</summary>
public sealed class GrpcFuzz
{
    // It stays open until its caller leaves.
    private const string Endless = "/grpc.health.v1.Health/Watch";

    private const byte Whole = 128;

    private static readonly string[] Encodings = ["", "identity", "gzip", "deflate", "br", "x"];

    [Fact]
    public async Task The_body_of_a_call_is_answered_with_a_status_of_the_contract()
    {
        await using var proxy = await FuzzedProxy.StartAsync();
        using var http = Http();
        var methods = Methods(proxy);
        await new Fuzz(
            "grpc", Bodies(methods.Count),
            [.. Corpus.Words, "\0\0\0\0\0", "\x01\0\0\0\x05", "\0\xff\xff\xff\xff", "\x1f\x8b\x08"],
            tries: 2_500).RunAsync(async input =>
        {
            // The first two bytes choose the method and the encoding, and whether the rest is a message,
            // in a frame that fits it.
            var method = methods[input.ElementAtOrDefault(0) % methods.Count];
            var encoding = Encodings[input.ElementAtOrDefault(1) % Encodings.Length];
            var rest = input.Skip(2).ToArray();
            var (status, reason) = await CallAsync(
                http, proxy, method, encoding, input.ElementAtOrDefault(1) < Whole ? rest : Framed(rest, flag: 0));
            Assert.Contains(status, (StatusCode?[])[
                null, StatusCode.OK, StatusCode.InvalidArgument, StatusCode.Internal, StatusCode.ResourceExhausted,
                StatusCode.Unimplemented, StatusCode.NotFound, StatusCode.DeadlineExceeded]);
            Assert.NotEqual(ErrorReasons.Unforeseen, reason);
            Assert.True(
                status is null or StatusCode.OK or StatusCode.Internal or StatusCode.Unimplemented || reason is not null
                    || !method.StartsWith("/billing.", StringComparison.Ordinal),
                $"{method}: {status}");
            proxy.AssertNoFaults();
            return $"{method} {status} {reason}";
        });
        await proxy.ServesAsync();
        await proxy.EndAsync();
    }

    /// <summary>A compressed message may grow a thousandfold, on calls that need no token too.</summary>
    [Theory]
    [InlineData("gzip", 1)]
    [InlineData("gzip", 10)]
    [InlineData("gzip", 15)]
    [InlineData("deflate", 15)]
    public async Task A_compressed_message_is_not_unpacked_on_any_method(string encoding, int megabytes)
    {
        await using var proxy = await FuzzedProxy.StartAsync();
        using var http = Http();
        var bomb = Bomb(encoding, megabytes);
        Assert.InRange(bomb.Length, 1, 16 * 1024);

        foreach (var method in Methods(proxy))
        {
            var (status, _) = await CallAsync(http, proxy, method, encoding, Framed(bomb, flag: 1));
            Assert.Equal((method, StatusCode.Unimplemented), (method, status));
        }
        using var body = new ByteArrayContent(bomb)
        {
            Headers = { ContentType = new("application/json"), ContentEncoding = { encoding } },
        };
        using var answer = await http.SendAsync(new HttpRequestMessage(HttpMethod.Put, new Uri(
            proxy.Host.Rest,
            "/v1/payments/" + Samples.TransactionId))
        { Content = body, Version = HttpVersion.Version11 });

        Assert.Equal(HttpStatusCode.UnsupportedMediaType, answer.StatusCode);
        await proxy.ServesAsync();
        await proxy.EndAsync();
    }

    [Fact]
    public async Task Frames_of_HTTP_2_end_at_most_their_own_connection()
    {
        await using var proxy = await FuzzedProxy.StartAsync();
        using var other = proxy.Host.Client.MakePayments();
        var tried = 0;
        await new Fuzz("http2", Http2Inputs.Connections(), Http2Inputs.Words, tries: 800).RunAsync(async input =>
        {
            // Some have the time for an answer; the others can be many, and end in the middle of it.
            var answered = await FuzzedProxy.ExchangeAsync(
                proxy.Grpc.Port, input, farewell: ++tried % 8 == 0 ? [] : null);
            proxy.AssertNoFaults();
            if (tried % 100 == 0)
            {
                await PayAsync(other);
            }
            return Http2Inputs.Kinds(answered);
        });
        await PayAsync(other);
        await other.RequestStream.CompleteAsync();
        Assert.False(await other.ResponseStream.MoveNext(CancellationToken.None));
        await proxy.ServesAsync();
        await proxy.EndAsync();
    }

    // On a stream that has been open on another connection all the time.
    private static async Task PayAsync(AsyncDuplexStreamingCall<MakePaymentRequest, MakePaymentsResponse> stream)
    {
        await stream.RequestStream.WriteAsync(Samples.Payment());
        Assert.True(await stream.ResponseStream.MoveNext(CancellationToken.None));
    }

    private static HttpClient Http() => new()
    {
        DefaultRequestVersion = HttpVersion.Version20,
        DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact,
    };

    private static List<string> Methods(FuzzedProxy proxy) =>
    [
        .. proxy.Host.Endpoints.Select(endpoint => endpoint.Metadata.OfType<GrpcMethodMetadata>()
            .FirstOrDefault()?.Method.FullName).OfType<string>().Distinct().Order(StringComparer.Ordinal),
    ];

    private static async Task<(StatusCode? Status, string? Reason)> CallAsync(
        HttpClient http, FuzzedProxy proxy, string method, string encoding, byte[] body)
    {
        using var content =
            new ByteArrayContent(body) { Headers = { ContentType = new MediaTypeHeaderValue("application/grpc") } };
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(proxy.Grpc, method))
        {
            Content = content,
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
        if (encoding.Length > 0)
        {
            request.Headers.Add("grpc-encoding", encoding);
        }
        using var answer = await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        if (method == Endless && !answer.Headers.Contains("grpc-status"))
        {
            return (null, null);
        }
        await answer.Content.ReadAsByteArrayAsync();
        var status = int.Parse(Value(answer, "grpc-status")!, System.Globalization.CultureInfo.InvariantCulture);
        return ((StatusCode)status, ReasonIn(Value(answer, MetadataExtensions.StatusDetailsTrailerName)));
    }

    private static string? ReasonIn(string? details) => details is null
        ? null
        : Status.Parser.ParseFrom(Convert.FromBase64String(details)).GetDetail<ErrorInfo>()?.Reason;

    private static string? Value(HttpResponseMessage answer, string name) =>
        answer.TrailingHeaders.TryGetValues(name, out var trailers) ? trailers.Single()
        : answer.Headers.TryGetValues(name, out var headers) ? headers.Single()
        : null;

    private static List<byte[]> Bodies(int methods)
    {
        IMessage[] messages =
        [
            Samples.Payment(), Samples.Balance(), new GetTransactionRequest
            {
                TransactionId = Samples.TransactionId,
                AccountId = "a",
                PaymentType = PaymentType.Visa,
            },
            new GetBalanceAtRequest { AccountId = "a", PaymentType = PaymentType.Visa, Time = new() { Seconds = 1 } },
            new ListStatementRequest
            {
                AccountId = "a",
                PaymentType = PaymentType.Visa,
                StartTime = new() { Seconds = 1 },
                Types_ = { StatementEntryType.PaymentAccepted },
                PageToken = "AAAA",
            },
            new SetCreditLimitRequest
            {
                TransactionId = Samples.TransactionId,
                AccountId = "a",
                PaymentType = PaymentType.Visa,
                Limit = Samples.Dollars(1),
            },
            new Grpc.Health.V1.HealthCheckRequest { Service = "billing.v1.BillingService" },
            new Grpc.Reflection.V1Alpha.ServerReflectionRequest { FileContainingSymbol = "billing.v1.BillingService" },
        ];
        var bodies = new List<byte[]>();
        for (byte method = 0; method < methods; method++)
        {
            foreach (var message in messages)
            {
                bodies.Add([method, 0, .. Framed(message.ToByteArray(), flag: 0)]);
                bodies.Add([method, Whole, .. message.ToByteArray()]);
                bodies.Add([method, 2, .. Framed(Packed("gzip", message.ToByteArray()), flag: 1)]);
            }
            bodies.Add(
                [
                    method, 0, .. Framed(messages[0].ToByteArray(), flag: 0),
                    .. Framed(messages[0].ToByteArray(), flag: 0),
                ]);
        }
        return bodies;
    }

    private static byte[] Bomb(string encoding, int megabytes) => Packed(encoding, new byte[megabytes * 1_000_000]);

    private static byte[] Packed(string encoding, byte[] bytes)
    {
        var packed = new MemoryStream();
        using (Stream packing = encoding == "gzip"
            ? new GZipStream(packed, CompressionLevel.Optimal)
            : new ZLibStream(packed, CompressionLevel.Optimal))
        {
            packing.Write(bytes);
        }
        return packed.ToArray();
    }

    private static byte[] Framed(byte[] message, byte flag)
    {
        var frame = new byte[5 + message.Length];
        frame[0] = flag;
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(1), message.Length);
        message.CopyTo(frame, 5);
        return frame;
    }
}
