using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy.Rest;

/// <summary>Payments over REST with the preference respond-async.</summary>
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
    public async Task Only_the_preference_respond_async_is_applied(string prefer, bool isApplied)
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);

        using var response = await PayAsync(proxy, prefer);

        Assert.Equal(isApplied ? HttpStatusCode.Accepted : HttpStatusCode.OK, response.StatusCode);
        Assert.Equal(isApplied, response.Headers.Contains("Preference-Applied"));
    }

    [Fact]
    public async Task A_payment_is_accepted_when_the_transport_has_it_and_keeps_its_place_until_it_is_answered()
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
    public async Task The_status_address_identifies_the_payment_and_its_deadline()
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
    public async Task A_payment_that_the_transport_rejects_is_refused_with_the_reason()
    {
        _queued.Refusal = Replies.Error(0, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable, "no broker");
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);

        using var refused = await PayAsync(proxy, "respond-async");
        using var problem = JsonDocument.Parse(await refused.Content.ReadAsStringAsync());

        Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        Assert.Equal(ErrorReasons.BrokerUnavailable, problem.RootElement.GetProperty("reason").GetString());
    }

    [Fact]
    public async Task If_the_transport_does_not_queue_commands_the_preference_is_ignored()
    {
        var direct = new FakeBackend();
        await using var proxy = await ProxyHost.StartAsync(direct, withRest: true);

        using var response = await PayAsync(proxy, "respond-async");

        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.False(response.Headers.Contains("Preference-Applied"));
    }

    [Fact]
    public async Task An_invalid_field_is_refused_also_with_the_preference_respond_async()
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

    private sealed class QueuedBackend : IRequestTransport
    {
        private readonly List<Command> _commands = [];

        public TransportDescription Description { get; } = new("test", "Nothing.", StoresCommands: true, TimesSteps: true);

        /// <summary>The answer to every command; null to answer at once.</summary>
        public TaskCompletionSource<Reply>? Answer { get; set; }

        /// <summary>The error with which every command is rejected; null to accept them.</summary>
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

        public Task<Reply> SendAsync(Request request, Action? stored = null)
        {
            var command = request.ToCommand();
            lock (_commands)
            {
                _commands.Add(command);
            }
            if (Refusal is not null)
            {
                return Task.FromResult(Refusal);
            }
            stored?.Invoke();
            return Answer?.Task ?? Task.FromResult(command.PaymentStatus is null
                ? FakeBackend.Accepted(command)
                : new Reply { PaymentStatus = new PaymentStatus { Payment = FakeBackend.Accepted(command).Payment } });
        }
    }
}
