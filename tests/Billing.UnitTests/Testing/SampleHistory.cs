using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.V1;

namespace Billing.UnitTests.Testing;

/// <summary>An account whose events are of every kind, with all that they may state. A new kind of event
/// needs a command at the end, so that what SampleHistory.txt keeps of the others (as it is stored, as it is
/// sent) stays as it is.</summary>
internal static class SampleHistory
{
    public const string Stream = "visa/acct-42";

    private static readonly DateTimeOffset Now = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    private static readonly string File =
        Path.Combine(Repository.Root, "tests/Billing.UnitTests/Testing/SampleHistory.txt");

    private static readonly Lock Gate = new();

    /// <summary>The events, in order, each with the account before it.</summary>
    public static IReadOnlyList<(Account Before, NewEvent Event)> Events { get; } = [.. Decided()];

    /// <summary>The names of all kinds of events.</summary>
    public static TheoryData<string> Kinds => [.. WriteKinds.Events.Select(kind => kind.Name)];

    /// <summary>The events of a kind.</summary>
    public static IReadOnlyList<NewEvent> Of(string kind)
    {
        var events = Events.Select(e => e.Event).Where(e => e.Body.Type == kind).ToList();
        Assert.NotEmpty(events);
        return events;
    }

    /// <summary>Compares what is made of the events of a kind with what is recorded of it; with BILLING_WRITE_EVENTS=1
    /// records it. What is recorded may gain members; none may change or go.</summary>
    /// <param name="what">What is made of them.</param>
    /// <param name="kind">The kind.</param>
    /// <param name="make">Makes it of an event.</param>
    public static void AssertRecorded(string what, string kind, Func<NewEvent, string> make)
    {
        var head = $"{what} {kind} ";
        var made = Of(kind).Select(e => head + make(e)).ToList();
        lock (Gate)
        {
            var lines = System.IO.File.Exists(File) ? System.IO.File.ReadAllLines(File) : [];
            if (Environment.GetEnvironmentVariable("BILLING_WRITE_EVENTS") == "1")
            {
                lines =
                [
                    .. lines.Where(line => !line.StartsWith(head, StringComparison.Ordinal)).Concat(made)
                        .Order(StringComparer.Ordinal),
                ];
                System.IO.File.WriteAllLines(File, lines);
            }
            Assert.Equal(
                made.Order(StringComparer.Ordinal),
                lines.Where(line => line.StartsWith(head, StringComparison.Ordinal)).Order(StringComparer.Ordinal));
        }
    }

    private static IEnumerable<AccountCommand> Commands()
    {
        var times = new RequestTimes(Now, Now.AddMicroseconds(1), Now.AddMicroseconds(2));
        var (paid, hold, second, third) = (Id(2), Id(7), Id(8), Id(9));
        yield return new AccountStatusChange(Id(1), AccountStatus.Open);
        yield return new Payment(Id(3), 2000, "USD", times);
        yield return new CreditLimitChange(Id(4), 900.10m, "USD", "4bf92f3577b34da6a3ce929d0e0e4736");
        yield return new Payment(paid, 10.40m, "USD", times, "4bf92f3577b34da6a3ce929d0e0e4736");
        yield return new Payment(Id(5), 0.60m, "USD");
        yield return new Payment(Id(6), 5000, "EUR");
        yield return new Authorisation(hold, 30.50m, "USD", TimeSpan.FromDays(7));
        yield return new Authorisation(second, 9.5m, "USD", TimeSpan.FromSeconds(1));
        yield return new Authorisation(third, 1, "USD", TimeSpan.FromDays(7));
        yield return new Authorisation(Id(10), 5000, "USD", TimeSpan.FromDays(7));
        yield return new Capture(Id(11), hold, 10.25m, "USD", IsFinal: false);
        yield return new Capture(Id(12), hold, 10.25m, "USD", IsFinal: true);
        yield return new Voiding(Id(13), third);
        yield return new Expiring(Id(14), second, Now.AddDays(1));
        yield return new Refund(Id(15), paid, 0.40m, "USD");
        yield return new AccountStatusChange(Id(16), AccountStatus.Frozen);
    }

    private static IEnumerable<(Account Before, NewEvent Event)> Decided()
    {
        var account = Limits.Opened(1000) with { Incarnation = 1_790_000_000 };
        var payments = new Dictionary<Guid, PaymentState>();
        var notes = Notes.Of(new PaymentNotes { Reference = "A 7", Metadata = { ["b"] = "1", ["a"] = "2" } });
        foreach (var command in Commands())
        {
            var sent = command with { By = new Sender("shop", "web"), Notes = notes };
            var fact = sent.Decide(account, sent.PaymentId is { } of ? payments[of] : null, Now).Event!;
            var decided = NewEvent.Of(Stream, fact, account);
            yield return (account, decided);
            if (PaymentState.Of(fact) is { } state)
            {
                payments[fact.TransactionId] = state;
            }
            else if (fact is PaymentFollowUp followUp)
            {
                payments[followUp.PaymentId] = payments[followUp.PaymentId].After(followUp);
            }
            account = decided.After;
        }
    }

    private static Guid Id(int number) => new(number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
}
