using Billing.UnitTests.Testing;
using Billing.Webhooks;
using Billing.Wire.V1;
using Google.Protobuf;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Webhooks;

/// <summary>Events that are not stored.</summary>
public sealed class EventIntakeTests
{
    private static readonly Event Factless =
        new() { StreamId = "visa/acct-42", Version = 7, DecidedUnixUs = 1_769_860_800_123_456 };

    [Fact]
    public async Task An_event_of_a_kind_that_only_a_newer_version_knows_is_not_passed_over()
    {
        // As that version writes it: the fact is a field that this one does not have.
        var newer = Event.Parser.ParseFrom([.. Factless.ToByteArray(), 0xE2, 0x03, 0x02, 0x08, 0x01]);

        var failure = await Assert.ThrowsAnyAsync<Exception>(() => TakeAsync(newer));

        Assert.Equal(
            "the event visa/acct-42@7 is of a kind that a newer version of this program has published; "
                + "upgrade this one.", failure.Message);
    }

    [Fact]
    public Task An_event_without_any_fact_is_skipped() => TakeAsync(Factless);

    [Fact]
    public Task An_event_that_is_far_larger_than_any_of_the_platform_is_skipped() => TakeAsync(new Event(Factless)
    {
        PaymentAccepted = new PaymentAccepted { Amount = Samples.Dollars(1) },
        Balance = Samples.Dollars(1),
        Notes = new Billing.V1.PaymentNotes { Reference = new string('n', 20_000) },
    });

    // Without a database: whatever would be stored fails.
    private static async Task TakeAsync(Event recorded)
    {
        var options = Options.Create(new WebhookOptions
        {
            ConnectionString = "Host=127.0.0.1;Port=1;Timeout=1",
            Receivers = new()
            {
                ["shop"] = new() { Url = "https://shop.example/", Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
            },
        });
        await using var store = new WebhookStore(options);
        using var deliveries = new Deliveries(
            store, options, receiver => new ReceiverClient(receiver, options.Value, TimeProvider.System),
            TimeProvider.System, Supervision.New(), NullLogger<Deliveries>.Instance);
        await new EventIntake(store, deliveries, options, NullLogger<EventIntake>.Instance).TakeAsync(
            [recorded], TestContext.Current.CancellationToken);
    }
}
