using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy.Rest;

/// <summary>Payments over REST whose callers would rather not wait, before transports that take them as they are told.</summary>
public sealed class QueuedPaymentsTests
{
    private const string Body = """{"account_id":"acct","payment_type":"visa","amount":{"currency_code":"USD","units":1}}""";

    private readonly QueuedBackend _queued = new();

    [Theory]
    [InlineData("respond-async", true)]
    [InlineData("Respond-ASYNC", true)]
    [InlineData("wait=5, respond-async", true)]
    [InlineData("respond-async; x=1, handling=strict", true)]
    [InlineData("respond-async=true", false)]
    [InlineData("respond-async-please", false)]
    [InlineData("respond", false)]
    [InlineData("note=\"a, respond-async\"", false)]
    [InlineData("note=\"a, respond-async", false)]
    [InlineData("wait=5", false)]
    [InlineData(", ,", false)]
    public async Task Only_the_preference_for_an_answer_before_the_work_is_done_is_heard(string prefer, bool isTaken)
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);

        using var response = await PayAsync(proxy, prefer);

        Assert.Equal(isTaken ? HttpStatusCode.Accepted : HttpStatusCode.OK, response.StatusCode);
        Assert.Equal(isTaken, response.Headers.Contains("Preference-Applied"));
    }

    [Fact]
    public async Task A_payment_is_taken_when_the_transport_has_it_and_its_place_is_held_until_it_is_answered()
    {
        _queued.Answer = new TaskCompletionSource<Reply>();
        await using var proxy = await ProxyHost.StartAsync(
            _queued, options => (options.InFlightMax, options.StreamWindow) = (1, 1), withRest: true);

        using var taken = await PayAsync(proxy, "respond-async");
        using var refused = await PayAsync(proxy, "respond-async");
        _queued.Answer.SetResult(new Reply());
        await proxy.WaitUntilIdleAsync();
        using var again = await PayAsync(proxy, "respond-async");

        Assert.Equal(HttpStatusCode.Accepted, taken.StatusCode);
        Assert.Equal(HttpStatusCode.TooManyRequests, refused.StatusCode);
        Assert.Equal(HttpStatusCode.Accepted, again.StatusCode);
    }

    [Fact]
    public async Task The_address_of_the_status_asks_about_this_very_payment_and_its_deadline()
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);
        using var http = new HttpClient { BaseAddress = proxy.Rest };

        using var taken = await PayAsync(proxy, "respond-async");
        using var status = await http.GetAsync(taken.Headers.Location);

        var (paid, asked) = (_queued.Commands[0], _queued.Commands[1]);
        Assert.Equal(paid.TransactionId, asked.TransactionId);
        Assert.Equal(paid.Payment, asked.PaymentStatus.Payment);
        Assert.Equal(paid.DeadlineUnixUs, asked.PaymentStatus.DeadlineUnixUs);
        Assert.Equal("no-store", status.Headers.CacheControl?.ToString());
    }

    [Fact]
    public async Task A_payment_that_the_transport_cannot_take_is_refused_with_its_reason()
    {
        _queued.Refusal = Replies.Error(0, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable, "no broker");
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);

        using var refused = await PayAsync(proxy, "respond-async");
        using var problem = JsonDocument.Parse(await refused.Content.ReadAsStringAsync());

        Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        Assert.Equal(ErrorReasons.BrokerUnavailable, problem.RootElement.GetProperty("reason").GetString());
    }

    [Fact]
    public async Task Where_the_transport_keeps_no_commands_the_preference_is_passed_over()
    {
        var called = new FakeBackend();
        await using var proxy = await ProxyHost.StartAsync(called, withRest: true);

        using var response = await PayAsync(proxy, "respond-async");

        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.False(response.Headers.Contains("Preference-Applied"));
    }

    [Fact]
    public async Task A_bad_field_is_refused_whether_or_not_the_caller_would_wait()
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);

        using var refused = await PayAsync(proxy, "respond-async", Body.Replace("visa", "diners", StringComparison.Ordinal));

        Assert.Equal(HttpStatusCode.BadRequest, refused.StatusCode);
        Assert.Empty(_queued.Commands);
    }

    private static async Task<HttpResponseMessage> PayAsync(ProxyHost proxy, string prefer, string body = Body)
    {
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        using var request = new HttpRequestMessage(HttpMethod.Put, "/v1/payments/" + Guid.NewGuid())
        {
            Content = new StringContent(body, new MediaTypeHeaderValue("application/json")),
        };
        request.Headers.TryAddWithoutValidation("Prefer", prefer);
        return await http.SendAsync(request);
    }

    private sealed class QueuedBackend : IQueuedTransport
    {
        private readonly List<Command> _commands = [];

        /// <summary>What every command is answered; null for at once.</summary>
        public TaskCompletionSource<Reply>? Answer { get; set; }

        /// <summary>Why no command is taken.</summary>
        public Reply? Refusal { get; set; }

        public IReadOnlyList<Command> Commands
        {
            get
            {
                lock (_commands)
                {
                    return [.. _commands];
                }
            }
        }

        public Task<Reply> SendAsync(Command command, CancellationToken cancellationToken) =>
            SendAsync(command, () => { }, cancellationToken);

        public Task<Reply> SendAsync(Command command, Action queued, CancellationToken cancellationToken)
        {
            lock (_commands)
            {
                _commands.Add(command);
            }
            if (Refusal is not null)
            {
                return Task.FromResult(Refusal);
            }
            queued();
            return Answer?.Task ?? Task.FromResult(command.PaymentStatus is null
                ? FakeBackend.Accepted(command)
                : new Reply { PaymentStatus = new PaymentStatus { Payment = FakeBackend.Accepted(command).Payment } });
        }
    }
}
