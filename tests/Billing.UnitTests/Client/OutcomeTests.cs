using Billing.Client;
using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using DeclineReason = Billing.Client.DeclineReason;

namespace Billing.UnitTests.Client;

/// <summary>The results that callers get for the failures of proxies.</summary>
public sealed class OutcomeTests
{
    private static readonly Payment Five = new(new CardAccount(CardNetwork.Visa, "a"), new Amount(5, "USD"));

    [Theory]
    [InlineData(StatusCode.InvalidArgument, RejectionReason.InvalidField)]
    [InlineData(StatusCode.AlreadyExists, RejectionReason.IdReused)]
    [InlineData(StatusCode.Unauthenticated, RejectionReason.NotAuthenticated)]
    [InlineData(StatusCode.PermissionDenied, RejectionReason.NotAllowed)]
    [InlineData(StatusCode.Unimplemented, RejectionReason.Other)]
    public async Task A_failure_that_a_retry_cannot_fix_is_a_rejection(StatusCode status, RejectionReason reason)
    {
        var result = await PayAsync(ScriptedProxy.Failure(status, "WHY", field: "amount.units"));

        Assert.Equal(
            Outcome.Rejected<PaymentAnswer>(
                Five.Id, new Rejection { Reason = reason, Field = "amount.units", Message = "scripted failure" }),
            result);
    }

    [Theory]
    [InlineData(StatusCode.DeadlineExceeded, ErrorReasons.NoAnswerInTime)]
    [InlineData(StatusCode.Internal, ErrorReasons.ProcessingFailed)]
    [InlineData(StatusCode.Unknown, "")]
    public async Task A_payment_that_may_have_been_recorded_is_unknown(StatusCode status, string reason) =>
        Assert.Equal(
            Outcome.Unknown<PaymentAnswer>(Five.Id, new Uncertainty { Reason = reason, Message = "scripted failure" }),
            await PayAsync(ScriptedProxy.Failure(status, reason)));

    /// <summary>The first attempt may have been recorded, even if the caller has lost its permission since.</summary>
    [Fact]
    public async Task A_retry_without_permission_leaves_the_outcome_of_the_first_attempt_unknown() =>
        Expect.Unknown(await PayAsync(
            ScriptedProxy.Failure(StatusCode.Unavailable), ScriptedProxy.Failure(StatusCode.Unauthenticated)));

    [Fact]
    public async Task A_call_may_have_its_own_deadline()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var held = new ManualResetEventSlim();
        proxy.Asked = _ => held.Wait();
        using var client = new BillingClient(
            new BillingClientOptions { Proxies = { proxy.Address }, Deadline = TimeSpan.FromHours(1) });

        var result = await client.PayAsync(Five, TimeSpan.FromMilliseconds(50));
        held.Set();

        Expect.Unknown(result);
    }

    [Fact]
    public async Task A_cancelled_call_gets_no_result()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        using var cancelled = new CancellationTokenSource();
        using var held = new ManualResetEventSlim();
        proxy.Asked = _ =>
        {
            cancelled.Cancel();
            held.Wait();
        };
        using var client = new BillingClient(new BillingClientOptions { Proxies = { proxy.Address } });

        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => client.PayAsync(Five, cancellationToken: cancelled.Token));
        held.Set();
    }

    [Fact]
    public void An_authorisation_is_on_hold_or_declined_and_an_outcome_of_a_newer_platform_is_unknown()
    {
        var answer = new AuthorisePaymentResponse
        {
            Outcome = PaymentOutcome.Accepted,
            Balance = Samples.Dollars(1),
            OnHold = Samples.Dollars(5),
            ExpireTime = new Timestamp { Seconds = 60 },
            Version = 3,
        };
        var declined = new AuthorisePaymentResponse
        {
            Outcome = PaymentOutcome.Declined,
            DeclineReason = V1.DeclineReason.CurrencyMismatch,
            Message = "why",
            Balance = Samples.Dollars(1),
            Version = 4,
        };

        Assert.Equal(
            Outcome.Accepted(Five.Id, new HoldAnswer
            {
                ExpiresAt = DateTimeOffset.FromUnixTimeSeconds(60),
                OnHold = new Amount(5, "USD"),
                Balance = new Amount(1, "USD"),
                Version = 3,
            }),
            Outcomes.Of(Five.Id, answer));
        Assert.Equal(
            Outcome.Declined<HoldAnswer>(Five.Id, new Decline
            {
                Reason = DeclineReason.CurrencyMismatch,
                Message = "why",
                Balance = new Amount(1, "USD"),
                Version = 4,
            }),
            Outcomes.Of(Five.Id, declined));
        Expect.Unknown(Outcomes.Of(Five.Id, new AuthorisePaymentResponse { Outcome = (PaymentOutcome)9 }));
    }

    [Fact]
    public async Task A_failed_query_reports_whether_to_retry()
    {
        var options = new BillingClientOptions { Proxies = { "http://127.0.0.1:1" }, RetriesMax = 0 };
        using var client = new BillingClient(options);

        var balance = await Assert.ThrowsAsync<BillingException>(() => client.GetBalanceAsync(Five.Account));
        var statement = await Assert.ThrowsAsync<BillingException>(
            async () => await client.ReadStatementAsync(Five.Account).ToListAsync());

        Assert.Equal((true, true), (balance.IsTransient, statement.IsTransient));
        Assert.IsType<RpcException>(balance.InnerException);
    }

    [Fact]
    public void An_application_has_one_client_and_invalid_options_are_named()
    {
        using var good = new ServiceCollection().AddBillingClient(o => o.Proxies.Add("http://localhost:5000"))
            .BuildServiceProvider();
        using var bad = new ServiceCollection().AddBillingClient(o => o.RetriesMax = 101).BuildServiceProvider();

        Assert.Same(good.GetRequiredService<BillingClient>(), good.GetRequiredService<BillingClient>());
        var e = Assert.Throws<OptionsValidationException>(() => bad.GetRequiredService<BillingClient>());
        Assert.Equal(
            [
                "Billing:Client:Proxies is empty; give at least one address, e.g. http://localhost:5000.",
                "Billing:Client:RetriesMax (101) must be between 0 and 100.",
            ],
            e.Failures);
    }

    [Fact]
    public void Each_outcome_is_one_case_and_calls_what_is_for_it()
    {
        var answer = new PaymentAnswer { Balance = new Amount(1, "USD"), Version = 2 };
        var decline = new Decline
        {
            Reason = DeclineReason.AccountFrozen,
            Message = "declined",
            Balance = answer.Balance,
            Version = 3,
        };
        var rejection = new Rejection { Reason = RejectionReason.IdReused, Message = "rejected" };
        var uncertainty = new Uncertainty { Message = "unknown" };
        Outcome<PaymentAnswer>[] outcomes =
        [
            Outcome.Accepted(Five.Id, answer), Outcome.Declined<PaymentAnswer>(Five.Id, decline),
            Outcome.Rejected<PaymentAnswer>(Five.Id, rejection), Outcome.Unknown<PaymentAnswer>(Five.Id, uncertainty),
        ];
        var switched = new List<object>();
        Array.ForEach(outcomes, outcome => outcome.Switch(switched.Add, switched.Add, switched.Add, switched.Add));

        Assert.Equal(
            [OutcomeStatus.Accepted, OutcomeStatus.Declined, OutcomeStatus.Rejected, OutcomeStatus.Unknown],
            outcomes.Select(outcome => outcome.Status));
        Assert.Equal(
            ["2", "declined", "rejected", "unknown"],
            outcomes.Select(
                outcome => outcome.Match(a => $"{a.Version}", d => d.Message, r => r.Message, u => u.Message)));
        Assert.Equal([answer, decline, rejection, uncertainty], switched);
        Assert.Equal(
            [
                (answer, null, null, null), (null, decline, null, null),
                (null, null, rejection, null), (null, null, null, uncertainty),
            ],
            outcomes.Select(outcome => (outcome.Accepted, outcome.Declined, outcome.Rejected, outcome.Unknown)));
    }

    [Fact]
    public void What_is_never_declined_has_three_cases()
    {
        var answer = new RefundAnswer { Total = new Amount(1, "USD"), Balance = new Amount(1, "USD"), Version = 2 };
        var switched = new List<object>();
        Outcome.Accepted(Five.Id, answer).Switch(switched.Add, switched.Add, switched.Add);

        Assert.Equal(2, Outcome.Accepted(Five.Id, answer).Match(a => a.Version, _ => 0, _ => -1));
        Assert.Equal(-1, Outcome.Unknown<RefundAnswer>(Five.Id, new Uncertainty { Message = "?" })
            .Match(a => a.Version, _ => 0, _ => -1));
        Assert.Equal([answer], switched);
    }

    private static async Task<Outcome<PaymentAnswer>> PayAsync(params RpcException[] failures)
    {
        await using var proxy = await ScriptedProxy.StartAsync(failures);
        using var client = new BillingClient(
            new BillingClientOptions { Proxies = { proxy.Address }, RetryDelay = TimeSpan.Zero });
        return await client.PayAsync(Five);
    }
}
