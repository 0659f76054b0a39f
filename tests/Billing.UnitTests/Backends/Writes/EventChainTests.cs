using System.Text.Json;
using Billing.Auditing.Chains;
using Billing.Backends.Domain;
using Billing.Backends.Writes;
using Billing.UnitTests.Auditing;
using Billing.UnitTests.Backends.EventStore;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Backends.Writes;

public sealed class EventChainTests
{
    private static readonly PaymentAccepted Fact =
        new(Guid.Parse(Samples.TransactionId), 10.50m, "USD", new DateTimeOffset(2026, 1, 31, 12, 0, 0, TimeSpan.Zero))
        {
            Balance = 10.50m,
            By = new Sender("Zoë \"1\" \U0001F4B3", "web"),
        };

    // Computed by the program in docs/tamper-evidence.md. Another hash would have every event that is
    // stored found altered.
    [Theory]
    [InlineData(null, 1, "VxKsoT85e6Hz38sc1DqQ4pX2xraHwipfnXqppwm7H44=")]
    [InlineData("fydLNKeKCuIYRQhB/fydLNKeKCuIYRQhB/fydLNKeKA=", 2, "z3NypBb/DoW4ow35LSudIj3KZUmEJMek2Q7wf4LrDkk=")]
    public void The_hash_of_an_event_is_that_of_its_definition(string? head, long version, string expected)
    {
        var body = EventChain.Append(head, "visa/acct-42", version, Fact);

        Assert.Equal(expected, body.Hash);
        Assert.Equal(expected, StoredHash.StatedBy(JsonDocument.Parse(body.Json).RootElement));
    }

    [Fact]
    public void The_auditor_computes_the_hashes_of_all_events_as_the_backends_do() =>
        Gen.OneOf(EventTypesTests.Events, IndependentFoldTests.Histories.Select(history => history[^1])).Holds(fact =>
        {
            var body = EventChain.Append("before", "visa/acct-42", 7, fact);
            // As a database keeps it: with the members in another order.
            using var stored = JsonDocument.Parse(body.Json);
            var content = JsonSerializer.SerializeToElement(
                stored.RootElement.EnumerateObject().OrderBy(member => member.Name.Length)
                    .ToDictionary(member => member.Name, member => member.Value));

            Assert.Equal(body.Hash, StoredHash.Of("before", "visa/acct-42", 7, body.Type, content));
            Assert.Equal(body.Hash, StoredHash.StatedBy(content));
        });

    [Fact]
    public void All_that_an_event_says_and_where_it_stands_is_in_its_hash()
    {
        AccountEvent[] facts =
        [
            Fact, Fact with { Amount = 10.51m }, Fact with { Currency = "EUR" },
            Fact with { Balance = 10.51m }, Fact with { OnHold = 0.01m },
            Fact with { By = null }, Fact with { By = new Sender("Zoë") }, Fact with { TraceId = "web" },
            Fact with { DecidedAt = Fact.DecidedAt.AddTicks(1) },
            new AuthorisationDeclined(
                Fact.TransactionId, Fact.Amount, "USD", V1.DeclineReason.CreditLimitExceeded, Fact.DecidedAt)
            {
                Balance = 0,
            },
            new PaymentDeclined(
                Fact.TransactionId, Fact.Amount, "USD", V1.DeclineReason.CreditLimitExceeded, Fact.DecidedAt)
            {
                Balance = 0,
            },
        ];
        var hashes = facts.Select(fact => EventChain.Append(null, "visa/acct-42", 1, fact).Hash)
            .Append(EventChain.Append(null, "visa/acct-42", 11, Fact).Hash)
            .Append(EventChain.Append(null, "visa/acct-4", 21, Fact).Hash)
            .Append(EventChain.Append("fydLNKeKCuIYRQhB/fydLNKeKCuIYRQhB/fydLNKeKA=", "visa/acct-42", 1, Fact).Hash)
            .ToList();

        Assert.Equal(hashes.Count, hashes.Distinct().Count());
    }

    [Fact]
    public void A_zero_has_no_sign_in_a_hash() => Assert.Equal(
        EventChain.Append(null, "visa/a", 1, Fact with { Balance = 0.00m }).Hash,
        EventChain.Append(null, "visa/a", 1, Fact with { Balance = decimal.Negate(0.00m) }).Hash);
}
