using System.Net.Http.Headers;
using System.Text.Json;
using Billing.Contracts;
using Billing.LocalStack;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.V1;
using Confluent.Kafka;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.IntegrationTests.Services;

/// <summary>Callers that cancel each call as soon as its command is on its way.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class CancelledCalls : IDisposable
{
    private const int Places = 20;
    private const int Attempts = 100;

    // Longer than the backends are paused, so that no command expires.
    private static readonly TimeSpan Deadline = TimeSpan.FromMinutes(4);

    private readonly KafkaStack _stack;
    private readonly HttpClient _http = new();
    private readonly IConsumer<Ignore, Ignore> _topics;

    public CancelledCalls(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
        _topics = KafkaClients.Consumer<Ignore, Ignore>(
            new ConsumerConfig { BootstrapServers = stack.Stack.BootstrapServers, GroupId = nameof(CancelledCalls) });
    }

    public void Dispose()
    {
        _topics.Dispose();
        _http.Dispose();
    }

    [Theory]
    [InlineData("gRPC", Places, ErrorReasons.TooManyInFlight)]
    [InlineData("REST", Places, ErrorReasons.TooManyInFlight)]
    [InlineData("streams", Places / 4, ErrorReasons.CallerLimitReached)]
    public async Task A_caller_that_cancels_its_payments_gets_no_more_of_them_processed_than_there_are_places_for_it(
        string api, int places, string refusal)
    {
        var proxy = await _stack.Stack.AddAsync(
            ServiceRole.Proxy, 9, TestContext.Current.CancellationToken, new Dictionary<string, string>
            {
                ["Billing__Proxy__InFlightMax"] = "20",
                ["Billing__Proxy__StreamWindow"] = "20",
            });
        try
        {
            using var channel = GrpcChannel.ForAddress(proxy.Address);
            var client = new BillingService.BillingServiceClient(channel);
            Func<MakePaymentRequest, CancellationToken, Task<string>> pay = api switch
            {
                "gRPC" => (payment, gone) => PayAsync(client, payment, gone),
                "REST" => (payment, gone) => PayAsync(new Uri(proxy.RestAddress!), payment, gone),
                _ => (payment, gone) => PayOnStreamAsync(client, payment, gone),
            };
            var account = StackFixture.NewAccount();

            var refusals = await SendAndCancelAsync(account, pay);

            Assert.Equal(Attempts - places, refusals.Count);
            Assert.All(refusals, reason => Assert.Equal(refusal, reason));
            await PayWhenThereIsAPlaceAsync(client);
            await Poll.UntilAsync(
                async () => await _stack.CountEventsAsync(account + "-%") >= places,
                TestContext.Current.CancellationToken);
            Assert.Equal(places, await _stack.CountEventsAsync(account + "-%"));
        }
        finally
        {
            await _stack.Stack.RemoveAsync(proxy);
        }
    }

    /// <summary>Makes payments while nothing can answer them, cancels each that was sent to a backend, and returns why
    /// the others were refused.</summary>
    private async Task<List<string>> SendAndCancelAsync(
        string account, Func<MakePaymentRequest, CancellationToken, Task<string>> pay)
    {
        var refusals = new List<string>();
        using var paused = new PausedProcesses([.. _stack.Stack.Of(ServiceRole.PaymentBackend).Select(s => s.Process)]);
        for (var i = 0; i < Attempts; i++)
        {
            using var gone = new CancellationTokenSource();
            var before = Commands();
            var paying = pay(StackFixture.Payment($"{account}-{i}"), gone.Token);
            await Poll.UntilAsync(() => paying.IsCompleted || Commands() > before);
            if (paying.IsCompleted)
            {
                refusals.Add(await paying);
                continue;
            }
            await gone.CancelAsync();
            await Assert.ThrowsAnyAsync<Exception>(() => paying);
        }
        return refusals;
    }

    /// <summary>The number of commands that were sent to the backends of this payment type.</summary>
    private long Commands()
    {
        var ends = _topics.QueryWatermarkOffsets(
            new TopicPartition(Topics.Payments(PaymentType.Visa), 0), TimeSpan.FromSeconds(30));
        return ends.High;
    }

    private static async Task PayWhenThereIsAPlaceAsync(BillingService.BillingServiceClient client)
    {
        // The payments that have a place are answered before it is free.
        await Poll.UntilAsync(
            async () => await PayAsync(client, StackFixture.Payment(), TestContext.Current.CancellationToken) == "");
    }

    /// <summary>Returns the reason why the payment was refused; empty if it was not.</summary>
    private static async Task<string> PayAsync(
        BillingService.BillingServiceClient client, MakePaymentRequest payment, CancellationToken gone)
    {
        try
        {
            await client.MakePaymentAsync(payment, deadline: DeadlineFromNow(), cancellationToken: gone);
            return "";
        }
        catch (RpcException e) when (e.StatusCode != StatusCode.Cancelled)
        {
            return e.Reason()!;
        }
    }

    private static async Task<string> PayOnStreamAsync(
        BillingService.BillingServiceClient client, MakePaymentRequest payment, CancellationToken gone)
    {
        using var call = client.MakePayments(deadline: DeadlineFromNow(), cancellationToken: gone);
        // The write to a stream that is refused may fail before the status of the refusal arrives.
        var writing = call.RequestStream.WriteAsync(payment, gone);
        try
        {
            Assert.True(await call.ResponseStream.MoveNext(gone));
            return "";
        }
        catch (RpcException e) when (e.StatusCode != StatusCode.Cancelled)
        {
            return e.Reason()!;
        }
        finally
        {
            await writing.ContinueWith(
                _ => { }, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        }
    }

    private async Task<string> PayAsync(Uri rest, MakePaymentRequest payment, CancellationToken gone)
    {
        using var request = new HttpRequestMessage(
            HttpMethod.Put, new Uri(rest, "/v1/payments/" + payment.TransactionId))
        {
            Content = new StringContent(
                $$$"""{"account_id":"{{{payment.AccountId}}}","payment_type":"visa","amount":"""
                    + """{"currency_code":"USD","units":10}}""",
                new MediaTypeHeaderValue("application/json")),
        };
        request.Headers.Add(
            "billing-timeout-ms",
            Deadline.TotalMilliseconds.ToString(System.Globalization.CultureInfo.InvariantCulture));
        using var response = await _http.SendAsync(request, gone);
        using var json = JsonDocument.Parse(await response.Content.ReadAsStringAsync(gone));
        return json.RootElement.TryGetProperty("reason", out var reason) ? reason.GetString()! : "";
    }

    private static DateTime DeadlineFromNow() => (TimeProvider.System.GetUtcNow() + Deadline).UtcDateTime;
}
