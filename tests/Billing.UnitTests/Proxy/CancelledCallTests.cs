using System.Net.Http.Headers;
using System.Threading.Channels;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Proxy;
using Billing.Proxy.Calls;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Proxy;

/// <summary>Callers that go before they are answered. Their commands are processed all the same,
/// so each keeps its place.</summary>
public sealed class CancelledCallTests
{
    private static readonly Dictionary<string, Func<ProxyHost, CancellationToken, Task>> Calls = new(
        StringComparer.Ordinal)
    {
        ["MakePayment"] = (proxy, gone) =>
            proxy.Client.MakePaymentAsync(Samples.Payment(), cancellationToken: gone).ResponseAsync,
        ["MakePayments"] = PayOnStreamAsync,
        ["CheckBalance"] = (proxy, gone) =>
            proxy.Client.CheckBalanceAsync(Samples.Balance(), cancellationToken: gone).ResponseAsync,
        ["StreamStatement"] = ReadStatementAsync,
        ["SetCreditLimit"] = (proxy, gone) =>
            proxy.Admin.SetCreditLimitAsync(Limit(), cancellationToken: gone).ResponseAsync,
        ["PUT payment"] = (proxy, gone) => RestAsync(
            proxy, HttpMethod.Put, "/v1/payments/" + Samples.TransactionId,
            """{"account_id":"a","payment_type":"visa","amount":{"currency_code":"USD","units":1}}""", gone),
        ["PUT credit-limit"] = (proxy, gone) => RestAsync(
            proxy, HttpMethod.Put, "/v1/accounts/visa/a/credit-limit",
            $$$"""{"transaction_id":"{{{Samples.TransactionId}}}","limit":{"currency_code":"USD","units":1}}""", gone),
        ["GET balance"] = (proxy, gone) => RestAsync(proxy, HttpMethod.Get, "/v1/accounts/visa/a/balance", null, gone),
        ["GET statement"] = (proxy, gone) =>
            RestAsync(proxy, HttpMethod.Get, "/v1/accounts/visa/a/statement", null, gone),
        ["GET status"] = (proxy, gone) => RestAsync(
            proxy, HttpMethod.Get,
            $"/v1/payments/{Samples.TransactionId}/status?link={StatusLink.Of(Samples.Payment(), 0)}", null, gone),
    };

    private readonly FakeBackend _backend = new();
    private readonly Channel<TaskCompletionSource> _taken = Channel.CreateUnbounded<TaskCompletionSource>();

    public CancelledCallTests() => _backend.Answer = async command =>
    {
        var answered = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _taken.Writer.TryWrite(answered);
        await answered.Task;
        return FakeBackend.Accepted(command);
    };

    public static TheoryData<string> CallNames => [.. Calls.Keys];

    [Theory]
    [MemberData(nameof(CallNames))]
    public async Task A_cancelled_call_keeps_its_place_until_its_command_is_answered(string call)
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        using var gone = new CancellationTokenSource();
        var calling = Calls[call](proxy, gone.Token);
        var command = await _taken.Reader.ReadAsync();

        await gone.CancelAsync();
        await Assert.ThrowsAnyAsync<Exception>(() => calling);
        await proxy.WaitUntilNoRequestRunsAsync();

        Assert.Equal((1, 1), (proxy.Admission.InFlight, _backend.InFlight));
        command.SetResult();
        await proxy.WaitUntilIdleAsync();
        Assert.Equal((0, 0), (proxy.Admission.InFlight, proxy.Admission.OfStreams));
    }

    [Fact]
    public async Task A_cancelled_stream_keeps_the_places_of_its_payments_until_each_is_answered()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        var commands = new List<TaskCompletionSource>();
        using (var call = proxy.Client.MakePayments())
        {
            for (var i = 0; i < 3; i++)
            {
                await call.RequestStream.WriteAsync(Samples.Payment());
                commands.Add(await _taken.Reader.ReadAsync());
            }
            commands[0].SetResult();
            Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        }
        await proxy.WaitUntilNoRequestRunsAsync();

        Assert.Equal((2, 2), (proxy.Admission.InFlight, proxy.Admission.OfStreams));
        commands[1].SetResult();
        await proxy.WaitUntilTakenAsync(1);
        commands[2].SetResult();
        await proxy.WaitUntilIdleAsync();
        Assert.Equal((0, 0), (proxy.Admission.InFlight, proxy.Admission.OfStreams));
    }

    [Fact]
    public async Task A_cancelled_stream_keeps_no_place_for_answers_that_its_caller_has_not_read()
    {
        var full = new TaskCompletionSource();
        _backend.Answer = command =>
        {
            if (_backend.Commands.Count == 256)
            {
                full.TrySetResult();
            }
            // 256 answers of this size exceed the HTTP/2 flow-control window of a caller that does not read.
            var reply = FakeBackend.Accepted(command);
            reply.Payment.Message = new string('x', 8_000);
            return Task.FromResult(reply);
        };
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using (var call = proxy.Client.MakePayments())
        {
            for (var i = 0; i < 1_000; i++)
            {
                await call.RequestStream.WriteAsync(Samples.Payment());
            }
            await full.Task;
        }

        await proxy.WaitUntilNoRequestRunsAsync();

        Assert.Equal((0, 0), (proxy.Admission.InFlight, proxy.Admission.OfStreams));
    }

    [Fact]
    public async Task A_cancelled_call_without_a_reply_keeps_its_place_until_its_deadline()
    {
        var time = new ManualTime();
        using var pending = new PendingReplies(time);
        var options = Options.Create(new ProxyOptions { DeadlineDefault = TimeSpan.FromSeconds(5) });
        using var admission = Admissions.With(options.Value, time: time);
        var service = new GrpcService(
            new RequestHandler(new Unanswered(pending), admission, options, time), admission, options, time);
        using var gone = new CancellationTokenSource();
        var calling = service.MakePayment(Samples.Payment(), new StubCall(DateTime.MaxValue, gone.Token));

        await gone.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => calling);
        time.Advance(TimeSpan.FromSeconds(4.9));
        Assert.Equal((1, 1), (admission.InFlight, pending.Count));

        time.Advance(TimeSpan.FromSeconds(0.2));
        await Poll.UntilAsync(() => admission.InFlight == 0);
        Assert.Equal(0, pending.Count);
    }

    private static async Task PayOnStreamAsync(ProxyHost proxy, CancellationToken gone)
    {
        using var call = proxy.Client.MakePayments(cancellationToken: gone);
        await call.RequestStream.WriteAsync(Samples.Payment(), gone);
        await call.ResponseStream.MoveNext(gone);
    }

    private static async Task ReadStatementAsync(ProxyHost proxy, CancellationToken gone)
    {
        using var call = proxy.Client.StreamStatement(
            new ListStatementRequest { AccountId = "a", PaymentType = PaymentType.Visa }, cancellationToken: gone);
        await call.ResponseStream.MoveNext(gone);
    }

    private static SetCreditLimitRequest Limit() => new()
    {
        TransactionId = Samples.TransactionId,
        AccountId = "a",
        PaymentType = PaymentType.Visa,
        Limit = Samples.Dollars(1),
    };

    private static async Task RestAsync(
        ProxyHost proxy, HttpMethod method, string path, string? body, CancellationToken gone)
    {
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        using var request = new HttpRequestMessage(method, path)
        {
            Content = body is null ? null : new StringContent(body, new MediaTypeHeaderValue("application/json")),
        };
        using var response = await http.SendAsync(request, gone);
    }

    private sealed class Unanswered(PendingReplies pending) : IRequestTransport
    {
        public TransportDescription Description { get; } = new(
            "test", "Nothing.", StoresCommands: false, TimesSteps: true);

        public Task<Reply> SendAsync(Request request, Action<int>? stored = null) => pending.Register(request).Reply;
    }
}
