using Billing.Webhooks;
using Billing.Wire.V1;

namespace Billing.Simulation.Receiving;

/// <summary>An event that a receiver has taken.</summary>
/// <param name="Receiver">The receiver's name.</param>
/// <param name="Id">The event's id.</param>
/// <param name="Body">What it got.</param>
internal sealed record TakenEvent(string Receiver, string Id, string Body);

/// <summary>The receivers of webhooks, and the ways in which they may fail.</summary>
internal sealed class Receivers(Scheduler scheduler, Dice dice)
{
    /// <summary>Gets every event.</summary>
    public const string Every = "every";

    /// <summary>Gets the payments by Visa.</summary>
    public const string Payments = "payments";

    // Such as a proxy on the way answers.
    private static readonly DeliveryFailure Busy = new("503", "It answered 503.", TimeSpan.FromSeconds(3));
    private static readonly DeliveryFailure Refused = new("500", "It answered 500.");

    /// <summary>The settings of the webhook services: those that ship, but for a shorter wait,
    /// as runs are short.</summary>
    public WebhookOptions Options { get; } = new()
    {
        Receivers = new(StringComparer.Ordinal)
        {
            [Every] = new ReceiverOptions { Url = "https://every.example/" },
            [Payments] = new ReceiverOptions
            {
                Url = "https://payments.example/",
                Events = "PAYMENT_ACCEPTED, PAYMENT_DECLINED",
                PaymentTypes = "VISA",
            },
        },
        ConcurrencyMax = dice.Pick([1, 2, 16]),
        Timeout = TimeSpan.FromSeconds(2),
        RetryDelay = TimeSpan.FromSeconds(1),
        RetryDelayMax = TimeSpan.FromSeconds(4),
    };

    /// <summary>What was taken, in order.</summary>
    public List<TakenEvent> Taken { get; } = [];

    /// <summary>Until when they answer that they are busy, or not at all.</summary>
    public long AwayUntil { get; set; }

    /// <summary>Until when half of their answers are lost.</summary>
    public long UnsureUntil { get; set; }

    /// <summary>An account whose events they refuse, and until when.</summary>
    public (string Account, long Until) Refusing { get; set; } = ("", 0);

    /// <summary>Whether a receiver wants an event.</summary>
    public static bool Wants(string receiver, Event recorded) => receiver == Every
        || (recorded.StreamId.StartsWith("visa/", StringComparison.Ordinal)
            && recorded.FactCase is (Event.FactOneofCase.PaymentAccepted or Event.FactOneofCase.PaymentDeclined));

    /// <summary>A receiver as one process sees it.</summary>
    public IReceiver Connect(Node node, ReceiverOptions receiver) =>
        new Connection(this, node, Options.Receivers.Single(known => known.Value == receiver).Key);

    // A request arrives although its sender has died since.
    private Task<DeliveryFailure?> SendAsync(Node node, TakenEvent sent)
    {
        var answer = new TaskCompletionSource<DeliveryFailure?>(TaskCreationOptions.RunContinuationsAsynchronously);
        scheduler.After(dice.UpTo(20), null, () =>
        {
            var failure = Take(sent);
            var wait = failure?.Reason == "timeout" ? Options.Timeout : dice.UpTo(20);
            scheduler.After(wait, node, () => answer.TrySetResult(failure));
        });
        return answer.Task;
    }

    private DeliveryFailure? Take(TakenEvent sent)
    {
        var now = scheduler.Now;
        if (AwayUntil > now)
        {
            return dice.Chance(0.5) ? Busy : Late();
        }
        if (Refusing.Until > now && sent.Body.Contains($"\"{Refusing.Account}\"", StringComparison.Ordinal))
        {
            return Refused;
        }
        Taken.Add(sent);
        return UnsureUntil > now && dice.Chance(0.5) ? Late() : null;
    }

    private DeliveryFailure Late() => new("timeout", $"It did not answer within {Options.Timeout}.");

    private sealed class Connection(Receivers receivers, Node node, string name) : IReceiver
    {
        public Task<DeliveryFailure?> SendAsync(string id, string body) =>
            receivers.SendAsync(node, new TakenEvent(name, id, body));
    }
}
