using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.V1;
using JasperFx;
using JasperFx.Events;
using Marten;

namespace Billing.IntegrationTests.Services;

/// <summary>Events that were stored in a schema that is no longer written.</summary>
[Collection(InOneProcess.Name)]
public sealed class EventSchemaEvolution(EmbeddedStack stack)
{
    private static readonly DateTimeOffset Then = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    private readonly string _account = StackFixture.NewAccount();

    [Fact]
    public async Task A_limit_change_stored_without_an_id_still_applies()
    {
        await StoreFormerLimitAsync(50);

        var accepted = await stack.Proxy().MakePaymentAsync(StackFixture.Payment(_account, 50));
        var declined = await stack.Proxy().MakePaymentAsync(StackFixture.Payment(_account, 0.01m));

        Assert.Equal(PaymentOutcome.Accepted, accepted.Outcome);
        Assert.Equal(2, accepted.Version);
        Assert.Equal(DeclineReason.CreditLimitExceeded, declined.DeclineReason);
    }

    [Fact]
    public async Task An_event_in_the_old_schema_is_read_in_the_current_schema()
    {
        await StoreFormerLimitAsync(70);
        using var store = DocumentStore.For(options =>
        {
            options.Connection(stack.ConnectionString);
            options.AutoCreateSchemaObjects = AutoCreate.None;
            EventTypes.Configure(options, "billing");
        });
        await using var session = store.QuerySession();

        var stream = await session.Events.FetchStreamAsync(StreamId.For(PaymentType.Visa, _account));

        Assert.Equal(new CreditLimitChanged(Guid.Empty, 70, "USD", Then), Assert.Single(stream).Data);
    }

    /// <summary>Stores an event in the form in which an older version of the program stored it.</summary>
    private async Task StoreFormerLimitAsync(decimal limit)
    {
        using var store = DocumentStore.For(options =>
        {
            options.Connection(stack.ConnectionString);
            options.AutoCreateSchemaObjects = AutoCreate.None;
            options.DatabaseSchemaName = "billing";
            options.Events.StreamIdentity = StreamIdentity.AsString;
            options.Events.AppendMode = EventAppendMode.Quick;
            options.Events.MapEventType<FormerLimitChange>("credit_limit_changed_v1");
            options.UseSystemTextJsonForSerialization();
        });
        await using var session = store.LightweightSession();
        session.Events.StartStream(StreamId.For(PaymentType.Visa, _account), new FormerLimitChange(limit, "USD", Then));
        await session.SaveChangesAsync();
    }

    private sealed record FormerLimitChange(decimal Limit, string Currency, DateTimeOffset DecidedAt);
}
