using System.Buffers.Binary;
using System.Text;
using Billing.Contracts;
using Billing.Misuse.Frames;
using Billing.V1;
using Google.Protobuf;

namespace Billing.Misuse.Connections;

/// <summary>A request as a front takes it.</summary>
internal sealed record Request(string Method, string Path, string ContentType, byte[] Body);

/// <summary>The requests of an attack, each as its front takes it.</summary>
/// <param name="random">Chooses accounts and amounts.</param>
internal sealed class Requests(AttackOrder order, Random random)
{
    private const int PrefixBytes = 5;
    private const int Accounts = 100;
    private const string Service = "/billing.v1.BillingService/";

    private readonly bool _isGrpc = AttackOrder.IsGrpc(order.Front);

    /// <summary>A payment of one of the attack's accounts.</summary>
    public Request Payment()
    {
        var (id, account) = (NewId(), $"misuse-{random.Next(Accounts)}");
        return _isGrpc
            ? Call(Service + "MakePayment", PaymentMessage(id, account))
            : new Request("PUT", "/v1/payments/" + id, "application/json", Encoding.ASCII.GetBytes(
                $$$"""{"account_id":"{{{account}}}","payment_type":"VISA","amount":"""
                    + """{"currency_code":"USD","units":1}}"""));
    }

    /// <summary>The whole statement of the long account; over REST a page of it.</summary>
    public Request Statement() => _isGrpc
        ? Call(Service + "StreamStatement", new ListStatementRequest
        {
            AccountId = order.LongAccount,
            PaymentType = PaymentType.Visa,
            PageSize = 1000,
        })
        : Get($"/v1/accounts/VISA/{order.LongAccount}/statement?page_size=1000");

    /// <summary>A page of the statement of the long account.</summary>
    public Request Page() => _isGrpc
        ? Call(Service + "ListStatement", new ListStatementRequest
        {
            AccountId = order.LongAccount,
            PaymentType = PaymentType.Visa,
            PageSize = 1000,
        })
        : Statement();

    /// <summary>A stream of payments, which begins with one. Only over gRPC.</summary>
    public Request Payments() => Call(Service + "MakePayments", PaymentMessage(NewId(), "misuse-stream"));

    /// <summary>What needs no token: a watch of the health, or the description of the API.</summary>
    public Request Anonymous() => _isGrpc
        ? new Request("POST", "/grpc.health.v1.Health/Watch", "application/grpc", new byte[PrefixBytes])
        : Get("/openapi/v1.json");

    /// <summary>A request whose body has a size of its own and no meaning.</summary>
    /// <param name="said">The size that it says it has, in bytes.</param>
    /// <param name="sent">The bytes that there are of it.</param>
    public Request Sized(uint said, int sent)
    {
        var request = Payment();
        var body = new byte[(_isGrpc ? PrefixBytes : 0) + sent];
        if (_isGrpc)
        {
            BinaryPrimitives.WriteUInt32BigEndian(body.AsSpan(1), said);
        }
        Array.Fill(body, (byte)' ', _isGrpc ? PrefixBytes : 0, sent);
        return request with { Body = body };
    }

    /// <summary>The fields of a request's headers over HTTP/2.</summary>
    public byte[] Fields(Request request, params IEnumerable<(string Name, string Value)> further) =>
        Http2Frames.Fields(
            [
                (":method", request.Method), (":scheme", AttackOrder.HasTls(order.Front) ? "https" : "http"),
                (":path", request.Path), (":authority", "localhost"),
                .. _isGrpc ? [("te", "trailers")] : Array.Empty<(string, string)>(),
                .. TypeOf(request), .. Authorization(), .. further,
            ]);

    /// <summary>The head of a request over HTTP/1.1.</summary>
    /// <param name="length">The length that it says its body has; null for one in chunks; 0 for none.</param>
    /// <param name="further">Further fields.</param>
    public string Head(Request request, long? length, params IEnumerable<(string Name, string Value)> further)
    {
        IEnumerable<(string Name, string Value)> fields =
        [
            ("Host", "localhost"), .. TypeOf(request), .. Authorization(),
            .. length is null ? [("Transfer-Encoding", "chunked")]
                : length > 0 ? [("Content-Length", $"{length}")] : Array.Empty<(string, string)>(),
            .. further,
        ];
        return $"{request.Method} {request.Path} HTTP/1.1\r\n"
            + string.Concat(fields.Select(field => $"{field.Name}: {field.Value}\r\n"));
    }

    /// <summary>A whole request over HTTP/1.1.</summary>
    public byte[] Whole(Request request) =>
        [.. Encoding.ASCII.GetBytes(Head(request, request.Body.Length) + "\r\n"), .. request.Body];

    private IEnumerable<(string Name, string Value)> Authorization() =>
        order.Token is { } token ? [("authorization", "Bearer " + token)] : [];

    private static IEnumerable<(string Name, string Value)> TypeOf(Request request) =>
        request.ContentType.Length > 0 ? [("content-type", request.ContentType)] : [];

    private static Request Get(string path) => new("GET", path, "", []);

    private static Request Call(string path, IMessage message)
    {
        var body = new byte[PrefixBytes + message.CalculateSize()];
        BinaryPrimitives.WriteInt32BigEndian(body.AsSpan(1), body.Length - PrefixBytes);
        message.WriteTo(body.AsSpan(PrefixBytes));
        return new Request("POST", path, "application/grpc", body);
    }

    private static MakePaymentRequest PaymentMessage(string id, string account) => new()
    {
        TransactionId = id,
        AccountId = account,
        PaymentType = PaymentType.Visa,
        Amount = 1m.ToMoney("USD"),
    };

    private string NewId()
    {
        var bytes = new byte[16];
        random.NextBytes(bytes);
        return new Guid(bytes).ToString();
    }
}
