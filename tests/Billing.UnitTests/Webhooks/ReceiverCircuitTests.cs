using Billing.Webhooks;

namespace Billing.UnitTests.Webhooks;

public sealed class ReceiverCircuitTests
{
    private const int Max = 16;
    private static readonly DeliveryFailure Refusal = new("500", "It answered 500.");

    private readonly ManualTime _time = new();
    private readonly ReceiverCircuit _circuit;

    public ReceiverCircuitTests() => _circuit = new ReceiverCircuit(
        new RetrySchedule(
            new WebhookOptions { RetryDelay = TimeSpan.FromSeconds(5), RetryDelayMax = TimeSpan.FromHours(1) },
            new Least()),
        _time);

    [Fact]
    public void Accounts_that_fail_again_and_again_slow_down_no_others()
    {
        for (var round = 0; round < 100; round++)
        {
            Fail(9);
        }

        Assert.Equal(Max, _circuit.Free(0, Max));
        Assert.Equal(6, _circuit.Free(10, Max));
    }

    [Fact]
    public void Accounts_between_which_an_event_was_taken_slow_down_no_others()
    {
        Fail(9);
        Take("visa/taken");
        Fail(9);

        Assert.Equal(Max, _circuit.Free(0, Max));
    }

    [Fact]
    public void After_ten_accounts_one_event_at_a_time_is_sent_until_one_is_taken()
    {
        Assert.Equal([.. Enumerable.Repeat(false, 9), true, false, false], Fail(12));

        Assert.Equal(0, _circuit.Free(0, Max));
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal((1, 0), (_circuit.Free(0, Max), _circuit.Free(1, Max)));
        Fail(1);
        Assert.Equal(0, _circuit.Free(0, Max));
        Take("visa/taken");
        Assert.Equal(Max, _circuit.Free(0, Max));
    }

    [Fact]
    public void The_next_event_waits_for_as_long_as_the_receiver_asks_and_not_as_its_account_has_to()
    {
        Fail(10);
        Note("visa/probe", [], Refusal with { RetryAfter = TimeSpan.FromMinutes(2) });

        _time.Advance(TimeSpan.FromSeconds(119));
        Assert.Equal(0, _circuit.Free(0, Max));
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(1, _circuit.Free(0, Max));
    }

    [Fact]
    public void An_account_of_which_an_event_was_taken_before_one_failed_counts_as_taken()
    {
        Fail(10);
        Note("visa/half", [new PendingId(0, 1, Guid.Empty)], Refusal);

        Assert.Equal(Max, _circuit.Free(0, Max));
    }

    private List<bool> Fail(
        int accounts) => [.. Enumerable.Range(0, accounts).Select(account => Note($"visa/{account}", [], Refusal))];

    private void Take(string streamId) => Note(streamId, [new PendingId(0, 1, Guid.Empty)], null);

    // The wait of the account itself, an hour, is the database's.
    private bool Note(string streamId, PendingId[] delivered, DeliveryFailure? failure) =>
        _circuit.Note(new DeliveryOutcome(streamId, delivered, failure, TimeSpan.FromHours(1)));

    private sealed class Least : Random
    {
        public override double NextDouble() => 0;
    }
}
