using Billing.Contracts;
using Billing.LocalStack;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.ChaosTests;

/// <summary>The rows of the architecture's table of failures that apply to every transport.
/// Each failure is caused with real processes while payments continue.</summary>
public abstract class FailureTable(StackFixture fixture) : StackFailures(fixture)
{
    /// <summary>The role that decides payments.</summary>
    protected abstract ServiceRole Backend { get; }

    /// <summary>The role that accepts calls.</summary>
    protected abstract ServiceRole Front { get; }

    [Fact]
    public async Task A_backend_killed_during_payments_loses_and_doubles_nothing()
    {
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(150);

        await KillAsync(Stack.Of(Backend).First());
        await Fixture.RestartEndedServicesAsync();
        await traffic.WaitForMoreAsync(150);

        await traffic.EndCleanAsync();
    }

    [Fact]
    public async Task A_crash_and_restart_of_PostgreSQL_only_causes_a_delay()
    {
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(150);

        await Stack.Postgres!.CrashAsync();
        await Stack.Postgres.StartAsync();
        await traffic.WaitForMoreAsync(150);

        await traffic.EndCleanAsync();
    }

    [Fact]
    public async Task Calls_fail_while_PostgreSQL_is_unavailable_for_long_and_their_payments_are_recorded_once()
    {
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(100);
        var request = StackFixture.Payment();

        await Stack.Postgres!.CrashAsync();
        RpcException failure;
        try
        {
            failure = await Conditions.FailureWhileStoreIsUnavailableAsync(Fixture.Proxy(), request);
        }
        finally
        {
            await Stack.Postgres.StartAsync();
        }
        var paid = await Conditions.RetryUntilAnsweredAsync(Fixture.Proxy(), request);

        Conditions.AssertStoreUnavailable(failure);
        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        Assert.Equal(1, await Fixture.CountEventsAsync(request.AccountId));
        await traffic.EndCleanAsync();
    }

    [Fact]
    public async Task A_request_sent_twice_at_the_same_time_gets_the_same_answer_twice()
    {
        for (var i = 0; i < 20; i++)
        {
            var request = StackFixture.Payment();

            var answers = await Task.WhenAll(
                Fixture.Proxy(i).MakePaymentAsync(request).ResponseAsync,
                Fixture.Proxy(i + 1).MakePaymentAsync(request).ResponseAsync);

            Assert.Equal(answers[0].AsReplay(), answers[1].AsReplay());
            Assert.InRange(answers.Count(answer => !answer.Replayed), 0, 1);
            Assert.Equal(1, await Fixture.CountEventsAsync(request.AccountId));
        }
    }

    [Fact]
    public async Task Ten_copies_of_a_thousand_payments_sent_at_once_get_ten_thousand_answers_and_a_thousand_events()
    {
        var prefix = StackFixture.NewAccount();
        var requests = Enumerable.Range(0, 1000)
            .Select(i => StackFixture.Payment($"{prefix}-{i % 50}", 0.01m)).ToList();
        var proxies = Enumerable.Range(0, 10).Select(Fixture.Proxy).ToList();

        // A disk that stalls for longer than these stacks allow the store is answered UNAVAILABLE,
        // and the caller retries.
        var answers = await Task.WhenAll(proxies.SelectMany(proxy => requests.Select(request =>
            Conditions.RetryUntilAnsweredAsync(proxy, request, Conditions.Patience))));

        Assert.Equal(10_000, answers.Length);
        Assert.All(answers.GroupBy(a => a.TransactionId), copies =>
        {
            Assert.Equal(10, copies.Count());
            Assert.Single(copies.Select(copy => copy.AsReplay()).Distinct());
            Assert.True(copies.Count(copy => !copy.Replayed) <= 1);
        });
        Assert.Equal(1000, await Fixture.CountEventsAsync(prefix + "-%"));
    }

    [Fact]
    public async Task Of_ten_times_the_in_flight_limit_some_calls_are_refused_with_a_retry_hint_and_each_is_paid_once()
    {
        // So few that they are taken however slowly the calls arrive.
        const int capacity = 4;
        var full = await Stack.AddAsync(Front, 9, CancellationToken.None, new Dictionary<string, string>
        {
            ["Billing__Proxy__InFlightMax"] = "4",
            ["Billing__Proxy__StreamWindow"] = "4",
        });
        try
        {
            using var channel = GrpcChannel.ForAddress(full.Address);
            var proxy = new BillingService.BillingServiceClient(channel);
            var prefix = StackFixture.NewAccount();
            var requests = Enumerable.Range(0, 10 * capacity)
                .Select(i => StackFixture.Payment($"{prefix}-{i}")).ToList();

            var answers = await Task.WhenAll(requests.Select(request => FailureOfAsync(proxy, request)));
            var refused = answers.OfType<RpcException>().ToList();

            Assert.NotEmpty(refused);
            Assert.InRange(refused.Count, 1, requests.Count - capacity);
            Assert.All(refused, failure =>
            {
                Assert.Equal(StatusCode.ResourceExhausted, failure.StatusCode);
                Assert.Equal(ErrorReasons.TooManyInFlight, failure.Reason());
                Assert.InRange(int.Parse(
                    failure.Trailers.GetValue(Trailers.RetryPushback)!,
                    System.Globalization.CultureInfo.InvariantCulture), 100, 15_000);
            });
            Assert.Equal(requests.Count - refused.Count, await Fixture.CountEventsAsync(prefix + "-%"));
            var client = Fixture.Client();
            await Task.WhenAll(requests.Select(request => client.MakePaymentAsync(request)));
            Assert.Equal(requests.Count, await Fixture.CountEventsAsync(prefix + "-%"));
        }
        finally
        {
            await Stack.RemoveAsync(full);
            if (Front == Backend)
            {
                // Two processes on one event store take it over from each other. Which of them has ended depends on
                // which was used last.
                await KillAsync(Stack.Of(Front).Single());
            }
            await Fixture.RestartEndedServicesAsync();
        }
    }
}

/// <summary>In one process.</summary>
[Collection(InOneProcess.Name)]
public sealed class EmbeddedFailures(OneProcessStack stack) : FailureTable(stack)
{
    protected override ServiceRole Backend => ServiceRole.Embedded;

    protected override ServiceRole Front => ServiceRole.Embedded;
}
