using Billing.Client;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Client.Sdk;

/// <summary>What a caller is told of what proxies end calls with.</summary>
public sealed class OutcomeTests
{
    private static readonly Payment Five = new(new CardAccount(PaymentType.Visa, "a"), new Amount(5, "USD"));

    [Theory]
    [InlineData(StatusCode.InvalidArgument, RejectionReason.InvalidField)]
    [InlineData(StatusCode.AlreadyExists, RejectionReason.IdReused)]
    [InlineData(StatusCode.Unauthenticated, RejectionReason.NotAuthenticated)]
    [InlineData(StatusCode.PermissionDenied, RejectionReason.NotAllowed)]
    [InlineData(StatusCode.Unimplemented, RejectionReason.Other)]
    public async Task What_asking_again_cannot_mend_is_rejected(StatusCode status, RejectionReason reason)
    {
        var failure = ScriptedProxy.Failure(status, "WHY");
        failure.Trailers.Add(Trailers.Field, "amount.units");

        var result = await PayAsync(failure);

        Assert.Equal(new PaymentResult.Rejected(Five.Id, reason, "amount.units", "as it was told to"), result);
    }

    [Theory]
    [InlineData(StatusCode.DeadlineExceeded, ErrorReasons.NoAnswerInTime)]
    [InlineData(StatusCode.Internal, ErrorReasons.ProcessingFailed)]
    [InlineData(StatusCode.Unknown, "")]
    public async Task What_may_or_may_not_be_recorded_is_unknown(StatusCode status, string reason) =>
        Assert.Equal(
            new PaymentResult.Unknown(Five.Id, reason, "as it was told to"),
            await PayAsync(ScriptedProxy.Failure(status, reason)));

    /// <summary>The first try may have been recorded, whatever becomes of the caller's right to ask.</summary>
    [Fact]
    public async Task A_caller_that_is_turned_away_with_a_retry_does_not_know_what_became_of_the_try_before() =>
        Assert.IsType<PaymentResult.Unknown>(await PayAsync(
            ScriptedProxy.Failure(StatusCode.Unavailable), ScriptedProxy.Failure(StatusCode.Unauthenticated)));

    [Fact]
    public async Task A_call_may_have_a_deadline_of_its_own()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var held = new ManualResetEventSlim();
        proxy.Asked = _ => held.Wait();
        using var client = new BillingClient(new BillingClientOptions { Proxies = { proxy.Address }, Deadline = TimeSpan.FromHours(1) });

        var result = await client.PayAsync(Five, TimeSpan.FromMilliseconds(50));
        held.Set();

        Assert.IsType<PaymentResult.Unknown>(result);
    }

    [Fact]
    public async Task A_caller_that_gives_up_gets_no_result()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var gone = new CancellationTokenSource();
        using var held = new ManualResetEventSlim();
        proxy.Asked = _ =>
        {
            gone.Cancel();
            held.Wait();
        };
        using var client = new BillingClient(new BillingClientOptions { Proxies = { proxy.Address } });

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => client.PayAsync(Five, cancellationToken: gone.Token));
        held.Set();
    }

    [Fact]
    public async Task A_question_without_an_answer_says_whether_to_ask_again()
    {
        using var client = new BillingClient(new BillingClientOptions { Proxies = { "http://127.0.0.1:1" }, RetriesMax = 0 });

        var balance = await Assert.ThrowsAsync<BillingException>(() => client.GetBalanceAsync(Five.Account));
        var statement = await Assert.ThrowsAsync<BillingException>(
            async () => await client.ReadStatementAsync(Five.Account).ToListAsync());

        Assert.Equal((true, true), (balance.IsTransient, statement.IsTransient));
        Assert.IsType<RpcException>(balance.InnerException);
    }

    [Fact]
    public void An_application_has_one_client_by_both_its_names_and_options_that_cannot_be_used_are_named()
    {
        using var good = new ServiceCollection().AddBillingClient(o => o.Proxies.Add("http://localhost:5000")).BuildServiceProvider();
        using var bad = new ServiceCollection().AddBillingClient(o => o.RetriesMax = 101).BuildServiceProvider();

        Assert.Same(good.GetRequiredService<BillingClient>(), good.GetRequiredService<IBillingClient>());
        var e = Assert.Throws<OptionsValidationException>(() => bad.GetRequiredService<IBillingClient>());
        Assert.Equal(
            ["Billing:Client:Proxies is empty; give at least one address, e.g. http://localhost:5000.", "Billing:Client:RetriesMax (101) must be between 0 and 100."],
            e.Failures);
    }

    private static async Task<PaymentResult> PayAsync(params RpcException[] failures)
    {
        await using var proxy = await ScriptedProxy.StartAsync(failures);
        using var client = new BillingClient(new BillingClientOptions { Proxies = { proxy.Address }, RetryDelay = TimeSpan.Zero });
        return await client.PayAsync(Five);
    }
}
