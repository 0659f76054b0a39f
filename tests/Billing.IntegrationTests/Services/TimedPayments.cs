using Billing.Contracts;
using Grpc.Core;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>Payments whose clients request the time of each step, independent of the transport of the
/// commands.</summary>
public abstract class TimedPayments
{
    // The broker's timestamps are whole milliseconds, and two processes may read the clock of one machine slightly
    // differently: by as long as a process was interrupted when it started its clock.
    private static readonly TimeSpan Slack = TimeSpan.FromMilliseconds(100);

    private readonly StackFixture _stack;
    private readonly string[] _steps;

    protected TimedPayments(StackFixture stack, params string[] missingSteps)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
        _steps = [.. StepTimes.Names.Except(missingSteps)];
    }

    [Fact]
    public async Task Every_step_has_a_time_and_the_times_are_in_order()
    {
        var client = _stack.Client();
        await client.MakePaymentAsync(StackFixture.Payment());
        var before = TimeProvider.System.GetUtcNow();

        var paid = await client.MakeTimedPaymentAsync(StackFixture.Payment());

        var after = TimeProvider.System.GetUtcNow();
        var steps = paid.Times.Steps().Where(s => s.Value is not null).ToList();
        Assert.Equal(_steps, steps.Select(s => s.Key));
        Assert.Equal(1, paid.Answer.Version);
        Assert.True(
            before - Slack <= paid.Times.Sent && paid.Times.Returned <= after + Slack,
            "The steps are not those of this call.");
        Assert.All(steps.Zip(steps.Skip(1)), pair => Assert.True(
            pair.First.Value <= pair.Second.Value + Slack, $"{pair.First} is after {pair.Second}"));
    }

    [Fact]
    public async Task The_stored_event_has_the_times_of_the_steps_up_to_the_store()
    {
        var request = StackFixture.Payment();

        var paid = await _stack.Client().MakeTimedPaymentAsync(request);

        var (stored, json) = await StoredAsync(request.AccountId);
        var read = Assert.IsType<Backends.Domain.PaymentAccepted>(
            Backends.EventStore.EventTypes.Read("payment_accepted_v1", System.Text.Encoding.UTF8.GetBytes(json)));
        Assert.Equal(paid.Times.Sent, Whole(read.Times!.SentAt));
        Assert.Equal(paid.Times.Received, Whole(read.Times.ReceivedAt));
        Assert.Equal(paid.Times.Consumed, Whole(read.Times.ConsumedAt));
        Assert.Equal(paid.Times.Decided, Whole(read.DecidedAt));
        Assert.InRange(stored, read.DecidedAt - Slack, paid.Times.Stored!.Value + Slack);
    }

    [Fact]
    public async Task A_payment_that_is_not_timed_stores_no_times()
    {
        // While a proxy's live page is open, and up to a second longer, it times three payments per second:
        // never all thirty.
        var requests = Enumerable.Range(0, 30).Select(_ => StackFixture.Payment()).ToList();
        var calls = requests.ConvertAll(request => _stack.Proxy().MakePaymentAsync(request));
        await Task.WhenAll(calls.Select(call => call.ResponseAsync));
        var stored = new List<string>();
        foreach (var request in requests)
        {
            stored.Add((await StoredAsync(request.AccountId)).Json);
        }

        Assert.All(calls, call => Assert.Null(call.GetTrailers().Get(Trailers.Times)));
        Assert.Contains(stored, json => !json.Contains("Times", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_copy_gets_the_first_answer_and_its_own_times_without_the_steps_that_were_not_repeated()
    {
        var client = _stack.Client();
        var request = StackFixture.Payment();
        var first = await client.MakeTimedPaymentAsync(request);

        var again = await client.MakeTimedPaymentAsync(request);

        Assert.Equal(first.Answer.AsReplay(), again.Answer);
        Assert.True(again.Times.Sent >= first.Times.Returned);
        Assert.True(again.Times.Consumed + Slack >= first.Times.Returned);
        Assert.Null(again.Times.Decided);
        Assert.Null(again.Times.Stored);
    }

    [Fact]
    public async Task A_declined_payment_is_timed_too()
    {
        var request = StackFixture.Payment(amount: 1_000_000);
        var paid = await _stack.Client().MakeTimedPaymentAsync(request);
        Assert.Equal(V1.PaymentOutcome.Declined, paid.Answer.Outcome);
        Assert.Equal(_steps, paid.Times.Steps().Where(s => s.Value is not null).Select(s => s.Key));
    }

    [Fact]
    public async Task An_invalid_time_is_rejected_and_nothing_is_charged()
    {
        var request = StackFixture.Payment();
        var failure = await Assert.ThrowsAsync<RpcException>(() => _stack.Proxy().MakePaymentAsync(
            request, new Metadata { { RequestHeaders.SentAt, "yesterday" } }).ResponseAsync);
        Assert.Equal(StatusCode.InvalidArgument, failure.StatusCode);
        Assert.Equal(RequestHeaders.SentAt, failure.Field());
        Assert.Equal(0, await _stack.CountEventsAsync(request.AccountId));
    }

    private static DateTimeOffset Whole(DateTimeOffset at) => at.AddTicks(-(at.Ticks % TimeSpan.TicksPerMicrosecond));

    private async Task<(DateTimeOffset Timestamp, string Json)> StoredAsync(string account)
    {
        await using var database = NpgsqlDataSource.Create(_stack.ConnectionString);
        await using var select = database.CreateCommand(
            "select timestamp, data::text from billing.mt_events where stream_id = 'visa/' || $1");
        select.Parameters.AddWithValue(account);
        await using var rows = await select.ExecuteReaderAsync();
        Assert.True(await rows.ReadAsync());
        return (new DateTimeOffset(rows.GetDateTime(0)), rows.GetString(1));
    }
}

/// <summary>Over Kafka, which adds the broker's timestamp.</summary>
[Collection(OverKafka.Name)]
public sealed class TimedPaymentsOverKafka(KafkaStack stack) : TimedPayments(stack);

/// <summary>In one process, without the broker's timestamp.</summary>
[Collection(InOneProcess.Name)]
public sealed class TimedPaymentsEmbedded(EmbeddedStack stack) : TimedPayments(stack, "appended");
