using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Proxy.Live;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Proxy.Live;

public sealed class LiveRecordTests
{
    private readonly ManualTime _time = new();

    [Fact]
    public async Task Concurrent_callers_get_the_same_record()
    {
        var watch = new LiveWatch(Options.Create(new LiveOptions()), _time);
        using var all = new Barrier(8);

        var records = await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => Task.Factory.StartNew(() =>
        {
            all.SignalAndWait();
            return watch.Begin();
        }, TestContext.Current.CancellationToken, TaskCreationOptions.LongRunning, TaskScheduler.Default)));

        Assert.All(records, record => Assert.Same(watch.Record, record));
    }

    [Fact]
    public void Each_second_has_its_own_counts_and_old_seconds_are_discarded()
    {
        var seconds = new CallSeconds(_time);
        var first = seconds.Now;
        seconds.Answered();
        seconds.Took(TimeSpan.FromMilliseconds(7));
        _time.Advance(TimeSpan.FromSeconds(2));
        seconds.Failed();

        var three = seconds.Between(first, first + 3).ToList();
        _time.Advance(TimeSpan.FromSeconds(CallSeconds.Kept - 1));
        seconds.Answered();

        Assert.Equal([1, 0, 0], three.Select(second => second.Answered));
        Assert.Equal([0, 0, 1], three.Select(second => second.Failed));
        Assert.Equal(1, three[0].Durations.Count);
        Assert.Equal(0, seconds.Between(first, first + 1).Single().Answered);
    }

    [Fact]
    public void Equal_failures_are_one_entry_with_a_count_and_old_ones_are_discarded()
    {
        var failures = new FailureLog(_time);
        failures.Add("PUT /v1", "429", ErrorReasons.TooManyInFlight, "first");
        _time.Advance(TimeSpan.FromSeconds(1));
        failures.Add("PUT /v1", "400", ErrorReasons.InvalidField, new string('<', 1000));
        failures.Add("PUT /v1", "429", ErrorReasons.TooManyInFlight, "again");

        var two = failures.Latest();
        _time.Advance(FailureLog.Lifetime + TimeSpan.FromSeconds(1));

        Assert.Equal(2, two.Count);
        Assert.Equal(("again", 2L), two.Where(f => f.Status == "429").Select(f => (f.Detail, f.Count)).Single());
        Assert.Equal(301, two.Single(f => f.Status == "400").Detail.Length);
        Assert.Empty(failures.Latest());
    }

    [Fact]
    public void With_too_many_kinds_of_failures_the_oldest_are_discarded()
    {
        var failures = new FailureLog(_time);
        for (var i = 0; i < FailureLog.KindsMax + 5; i++)
        {
            failures.Add("method " + i, "400", null, null);
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.Equal(FailureLog.KindsMax, failures.Latest().Count);
        Assert.DoesNotContain(failures.Latest(), failed => failed.Method == "method 4");
    }

    [Fact]
    public async Task Only_the_configured_number_of_payments_per_second_is_timed()
    {
        var backend = new FakeBackend();
        var record = new LiveRecord(2, _time);

        for (var i = 0; i < 5; i++)
        {
            await record.SendAsync(backend, Payment());
        }
        _time.Advance(TimeSpan.FromSeconds(1));
        await record.SendAsync(backend, Payment());
        await record.SendAsync(backend, Request.Of(Samples.BalanceCommand()));

        Assert.Equal(
            [true, true, false, false, false, true, false],
            backend.Commands.Select(command => command.Timing is not null));
        Assert.Equal(3, record.Payments.Latest().Count);
        Assert.All(record.Payments.Latest(), payment => Assert.Equal("Accepted", payment.Outcome));
    }

    [Fact]
    public async Task A_payment_made_on_the_page_is_timed_and_concurrent_payments_are_not()
    {
        var backend = new FakeBackend();
        var record = new LiveRecord(0, _time);

        async Task<OwnPayment> PayAsync()
        {
            var own = LiveRecord.TimeNext();
            await Task.Yield();
            await record.SendAsync(backend, Payment("own"));
            return own;
        }

        var own = await PayAsync();
        await record.SendAsync(backend, Payment("other"));

        Assert.Equal("own", own.Steps!.Account);
        Assert.True(Assert.Single(record.Payments.Latest()).FromHere);
        Assert.Null(backend.Commands.Last().Timing);
    }

    private static Request Payment(string account = "a") => Request.Of(new Command
    {
        TransactionId = Guid.NewGuid().ToString(),
        ReceivedUnixUs = 1_769_860_800_000_000,
        Payment = new MakePaymentRequest { AccountId = account, PaymentType = PaymentType.Visa },
    });
}
