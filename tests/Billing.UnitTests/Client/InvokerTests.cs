using Billing.Client;
using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;

namespace Billing.UnitTests.Client;

/// <summary>The class that protoc generates, over the client's call invoker.</summary>
public sealed class InvokerTests
{
    private static readonly Method<string, string> Other = new(
        MethodType.DuplexStreaming, "other", "Stream", Marshallers.StringMarshaller, Marshallers.StringMarshaller);

    [Fact]
    public async Task A_call_is_retried_with_the_token_and_headers_of_its_own_and_has_the_status_of_the_answer()
    {
        await using var proxy = await ScriptedProxy.StartAsync(ScriptedProxy.Failure(StatusCode.Unavailable));
        using var client = Client(proxy);

        using var call = Generated(client).MakePaymentAsync(Samples.Payment(), new Metadata { { "tenant", "a" } });
        var answer = await call;

        Assert.Equal(PaymentOutcome.Accepted, answer.Outcome);
        Assert.Equal((StatusCode.OK, 0), (call.GetStatus().StatusCode, call.GetTrailers().Count));
        Assert.Contains(
            await call.ResponseHeadersAsync, header => header.Key == "content-type" || header.Key == "date");
        Assert.Equal(["Bearer abc", "Bearer abc"], proxy.HeadersOf("authorization"));
        Assert.Equal(["a", "a"], proxy.HeadersOf("tenant"));
        Assert.Equal(1, client.Retried);
    }

    [Fact]
    public async Task A_call_that_fails_has_the_status_and_the_reason()
    {
        await using var proxy = await ScriptedProxy.StartAsync(
            ScriptedProxy.Failure(StatusCode.InvalidArgument, ErrorReasons.InvalidField, field: "amount"));
        using var client = Client(proxy);

        using var call = Generated(client).MakePaymentAsync(Samples.Payment());
        var failure = await Assert.ThrowsAnyAsync<RpcException>(() => call.ResponseAsync);

        Assert.Equal((ErrorReasons.InvalidField, "amount"), (BillingClient.Reason(failure), failure.Field()));
        Assert.Equal(
            (StatusCode.InvalidArgument, StatusCode.InvalidArgument),
            (failure.StatusCode, call.GetStatus().StatusCode));
        Assert.Equal(failure.Trailers, call.GetTrailers());
        Assert.Equal(PaymentOutcome.Accepted, Generated(client).MakePayment(Samples.Payment()).Outcome);
    }

    [Fact]
    public async Task A_call_that_is_disposed_of_ends_and_is_not_retried()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var held = new ManualResetEventSlim();
        var asked = new TaskCompletionSource();
        proxy.Asked = _ =>
        {
            asked.TrySetResult();
            held.Wait();
        };
        using var client = Client(proxy);

        var call = Generated(client).MakePaymentAsync(Samples.Payment());
        await asked.Task;
        call.Dispose();
        var failure = await Assert.ThrowsAnyAsync<RpcException>(() => call.ResponseAsync);
        held.Set();

        Assert.Equal(StatusCode.Cancelled, failure.StatusCode);
        Assert.Single(proxy.Requests);
    }

    [Fact]
    public async Task Payments_over_a_stream_are_sent_again_when_it_breaks()
    {
        await using var proxy = await ScriptedProxy.StartAsync(ScriptedProxy.Failure(StatusCode.Unavailable));
        using var client = Client(proxy);
        var payments = Enumerable.Range(0, 5).Select(_ => Samples.Payment()).ToList();
        payments.ForEach(payment => payment.TransactionId = Guid.NewGuid().ToString());

        using var call = Generated(client).MakePayments(new Metadata { { "tenant", "a" } });
        foreach (var payment in payments)
        {
            await call.RequestStream.WriteAsync(payment);
        }
        await call.RequestStream.CompleteAsync();
        var answers = await call.ResponseStream.ReadAllAsync().ToListAsync();

        Assert.Equal(
            payments.Select(payment => payment.TransactionId).Order(),
            answers.Select(answer => answer.TransactionId).Order());
        Assert.Equal(StatusCode.OK, call.GetStatus().StatusCode);
        Assert.Equal(["a", "a"], proxy.HeadersOf("tenant"));
        await Assert.ThrowsAsync<InvalidOperationException>(() => call.RequestStream.WriteAsync(payments[0]));
    }

    [Fact]
    public async Task A_statement_is_a_stream_too_and_others_are_not_known()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var client = Client(proxy);

        using var call = Generated(client)
            .StreamStatement(new ListStatementRequest { AccountId = "a", PaymentType = PaymentType.Visa });
        var pages = await call.ResponseStream.ReadAllAsync().ToListAsync();

        Assert.Equal(1, Assert.Single(Assert.Single(pages).Entries).Version);
        Assert.Throws<NotSupportedException>(() => client.CallInvoker.AsyncDuplexStreamingCall(Other, null, default));
    }

    [Fact]
    public async Task The_deadline_of_a_stream_is_kept_and_its_caller_may_end_it()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var client = Client(proxy);

        using var late = Generated(client)
            .MakePayments(deadline: TimeProvider.System.GetUtcNow().UtcDateTime.AddMilliseconds(200));
        var isLate = await Assert.ThrowsAsync<RpcException>(() => late.ResponseStream.MoveNext());
        using var given = Generated(client).MakePayments();
        var reading = given.ResponseStream.MoveNext();
        given.Dispose();
        var isGivenUp = await Assert.ThrowsAsync<RpcException>(() => reading);

        Assert.Equal((StatusCode.DeadlineExceeded, StatusCode.Cancelled), (isLate.StatusCode, isGivenUp.StatusCode));
        Assert.Equal(
            (StatusCode.DeadlineExceeded, StatusCode.Cancelled),
            (late.GetStatus().StatusCode, given.GetStatus().StatusCode));
    }

    private static BillingService.BillingServiceClient Generated(BillingClient client) => new(client.CallInvoker);

    private static BillingClient Client(ScriptedProxy proxy) =>
        new(new BillingClientOptions { Proxies = { proxy.Address }, RetryDelay = TimeSpan.Zero, Token = "abc" });
}
