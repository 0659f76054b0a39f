using System.Net;
using System.Net.Http.Headers;
using System.Net.Security;
using System.Net.Sockets;
using System.Text;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>Requests of attackers and of faulty clients: they are rejected with the reason, nothing is stored,
/// and the proxy continues to serve calls. docs/misuse.md has the table.</summary>
[Collection(OverTls.Name)]
public sealed class Misuse(SecuredStack stack)
{
    // Far above the permitted size of a proxy's buffers, and far below the memory that it would use without limits.
    private const long GrowthMax = 150_000_000;

    private static readonly string[] Hostile =
    [
        "'; drop table billing.mt_events; --", "<script>alert(1)</script>",
        "${jndi:ldap://127.0.0.1/a}", "{0}{1}%s%n", "../../etc/passwd",
        "a\r\ngrpc-message: FORGED", "a\0b", "\u202Etxt.exe", new string('x', 1_000),
        "acct 1", "\uD83D\uDCB3", "*", "billing.events/x",
    ];

    private readonly SecuredStack _stack =
        stack.Missing is null ? stack : throw Xunit.Sdk.SkipException.ForSkip(stack.Missing);

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Hostile_text_in_any_field_is_rejected_with_the_fields_name_and_not_logged()
    {
        var client = new BillingService.BillingServiceClient(_stack.Channel());
        var admin = new BillingAdminService.BillingAdminServiceClient(Grpc.Net.Client.GrpcChannel.ForAddress(
            _stack.Stack.AdminAddresses[0],
            new() { HttpHandler = _stack.Credentials.Handler(), DisposeHttpClient = true }));
        var all = _stack.Bearer("payments:write accounts:read accounts:manage", "*/*");
        var before = await EventsAsync();

        foreach (var text in Hostile)
        {
            var payments = ((string, MakePaymentRequest)[])
            [
                ("transaction_id", With(p => p.TransactionId = text)), ("account_id", With(p => p.AccountId = text)),
                ("amount.currency_code", With(p => p.Amount.CurrencyCode = text)),
            ];
            foreach (var (field, payment) in payments)
            {
                await RefusedAsync(field, () => client.MakePaymentAsync(payment, all).ResponseAsync);
            }
            await RefusedAsync("account_id", () => client.CheckBalanceAsync(
                new() { AccountId = text, PaymentType = PaymentType.Visa }, all).ResponseAsync);
            await RefusedAsync("account_id", () => client.StreamStatement(
                new() { AccountId = text, PaymentType = PaymentType.Visa }, all).ResponseStream.MoveNext(Cancellation));
            await RefusedAsync("transaction_id", () => admin.SetCreditLimitAsync(
                new()
                {
                    TransactionId = text,
                    AccountId = "test-1",
                    PaymentType = PaymentType.Visa,
                    Limit = 1m.ToMoney("USD"),
                },
                all).ResponseAsync);
        }

        Assert.Equal(before, await EventsAsync());
        await NotLoggedAsync("drop table", "<script>", "jndi", "FORGED");
        await ServesAsync();
    }

    [Fact]
    public async Task A_body_of_100_MB_is_rejected_and_not_buffered()
    {
        var before = ResidentBytes();
        using var http = Http("payments:write");
        // Waits for permission to send the body. Otherwise the response could be lost when the server closes the
        // connection while the body is sent.
        http.DefaultRequestHeaders.ExpectContinue = true;
        using var body = new StreamContent(new Zeros(100_000_000));
        body.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        body.Headers.ContentLength = 100_000_000;

        using var answer = await http.PutAsync(new Uri(Rest, "/v1/payments/" + Guid.NewGuid()), body, Cancellation);
        var client = new BillingService.BillingServiceClient(_stack.Channel());
        var tooLong = await Assert.ThrowsAsync<RpcException>(() => client.MakePaymentAsync(
            With(p => p.AccountId = new string('a', 100_000_000)),
            _stack.Bearer("payments:write", "*/*")).ResponseAsync);

        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, answer.StatusCode);
        Assert.Equal(
            (StatusCode.InvalidArgument, ErrorReasons.RequestTooLarge), (tooLong.StatusCode, tooLong.Reason()));
        Assert.InRange(ResidentBytes() - before, long.MinValue, GrowthMax);
        await ServesAsync();
    }

    [Fact]
    public async Task A_request_with_incomplete_headers_times_out()
    {
        await using var connection = await TlsAsync();
        await connection.WriteAsync("GET /health/live HTTP/1.1\r\nHost: localhost\r\nA: "u8.ToArray(), Cancellation);

        using var answer = new StreamReader(connection, Encoding.ASCII);
        var response = await answer.ReadToEndAsync(Cancellation);

        Assert.StartsWith("HTTP/1.1 408", response, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Most_of_ten_thousand_idle_connections_from_one_address_are_closed_and_other_clients_are_served()
    {
        var before = ResidentBytes();
        var proxy = new Uri(_stack.Stack.ProxyAddresses[0]);
        var sockets = new List<Socket>();
        for (var i = 0; i < 10_000; i++)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            sockets.Add(socket);
            socket.Bind(new IPEndPoint(IPAddress.Parse("127.0.0.9"), 0));
            try
            {
                await socket.ConnectAsync(IPAddress.Loopback, proxy.Port, Cancellation);
            }
            catch (SocketException)
            {
                // The server closed the connection before it was established.
            }
        }

        await ServesAsync();
        var open = 0;
        foreach (var socket in sockets)
        {
            open += IsClosed(socket) ? 0 : 1;
        }
        var growth = ResidentBytes() - before;
        sockets.ForEach(socket => socket.Dispose());

        // Half of Billing:Proxy:ConnectionsMax, if memory allows as many.
        Assert.InRange(open, 1, 2_500);
        Assert.InRange(growth, long.MinValue, GrowthMax);
    }

    [Fact]
    public async Task A_thousand_idle_streams_do_not_block_other_calls()
    {
        var before = ResidentBytes();
        var headers = _stack.Bearer("payments:write", "*/*");
        var client = new BillingService.BillingServiceClient(_stack.Channel());
        var streams = Enumerable.Range(0, 1_000)
            .Select(_ => client.MakePayments(headers, cancellationToken: Cancellation)).ToList();
        // One answered payment shows that all streams are open.
        await streams[^1].RequestStream.WriteAsync(StackFixture.Payment(), Cancellation);
        Assert.True(await streams[^1].ResponseStream.MoveNext(Cancellation));

        await ServesAsync();
        var growth = ResidentBytes() - before;
        streams.ForEach(stream => stream.Dispose());

        Assert.InRange(growth, long.MinValue, GrowthMax);
    }

    private Uri Rest => new(_stack.Stack.RestAddresses[0]);

    private HttpClient Http(string scopes)
    {
        var http = new HttpClient(_stack.Credentials.Handler());
        http.DefaultRequestHeaders.Authorization = new("Bearer", _stack.Token(scopes, "*/*"));
        return http;
    }

    private async Task ServesAsync()
    {
        var paid = await new BillingService.BillingServiceClient(_stack.Channel()).MakePaymentAsync(
            StackFixture.Payment(), _stack.Bearer("payments:write", "*/*"),
            (TimeProvider.System.GetUtcNow() + Patience).UtcDateTime, Cancellation);
        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
    }

    private static MakePaymentRequest With(Action<MakePaymentRequest> change)
    {
        var payment = StackFixture.Payment();
        change(payment);
        return payment;
    }

    private static async Task RefusedAsync(string field, Func<Task> call)
    {
        var refused = await Assert.ThrowsAsync<RpcException>(call);
        Assert.Equal(StatusCode.InvalidArgument, refused.StatusCode);
        Assert.Equal(field, refused.Field());
    }

    private async Task<long> EventsAsync()
    {
        await using var database = NpgsqlDataSource.Create(_stack.ConnectionString);
        await using var count = database.CreateCommand("select count(*) from billing.mt_events");
        return (long)(await count.ExecuteScalarAsync(Cancellation))!;
    }

    private async Task NotLoggedAsync(params string[] texts)
    {
        foreach (var log in Directory.EnumerateFiles(_stack.Stack.Folder.Logs))
        {
            var logged = await File.ReadAllTextAsync(log, Cancellation);
            Assert.All(texts, text => Assert.DoesNotContain(text, logged, StringComparison.Ordinal));
        }
    }

    private long ResidentBytes() => _stack.Stack.Of(Billing.LocalStack.ServiceRole.Proxy).Sum(proxy =>
    {
        using var process = System.Diagnostics.Process.GetProcessById(proxy.Process.Id);
        return process.WorkingSet64;
    });

    private async Task<SslStream> TlsAsync()
    {
        var tcp = new TcpClient();
        await tcp.ConnectAsync(IPAddress.Loopback, Rest.Port, Cancellation);
        var tls = new SslStream(tcp.GetStream());
        using var handler = _stack.Credentials.Handler();
        await tls.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = "localhost",
                CertificateChainPolicy = handler.SslOptions.CertificateChainPolicy,
            },
            Cancellation);
        return tls;
    }

    // The server never sends first, so a readable socket is a closed one.
    private static bool IsClosed(Socket socket)
    {
        try
        {
            return socket.Poll(0, SelectMode.SelectRead) && socket.Receive(new byte[1]) == 0;
        }
        catch (SocketException)
        {
            return true;
        }
    }

    /// <summary>A stream of zeros of the given length, which are generated on reading and not kept in memory.</summary>
    private sealed class Zeros(long length) : Stream
    {
        private long _position;

        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => false;

        public override long Length => length;

        public override long Position
        {
            get => _position;
            set => throw new NotSupportedException();
        }

        public override int Read(byte[] buffer, int offset, int count)
        {
            var read = (int)Math.Min(count, length - _position);
            Array.Clear(buffer, offset, read);
            _position += read;
            return read;
        }

        public override void Flush()
        {
        }

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
    }
}
