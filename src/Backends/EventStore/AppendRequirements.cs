using Billing.Hosting;
using JasperFx.Events.Projections;
using JasperFx.MultiTenancy;
using Marten;
using Marten.Events;

namespace Billing.Backends.EventStore;

/// <summary>What Marten's own append would do and <see cref="StoredFunction.AppendEvents"/> does not.
/// A store where that is switched on would silently lack it.</summary>
internal static class AppendRequirements
{
    /// <summary>Checks the configuration of the store.</summary>
    /// <exception cref="StartupException">Something is switched on that appends would leave out.</exception>
    public static void Check(IReadOnlyStoreOptions store)
    {
        var leftOut = LeftOut(store.Events)
            .Concat(store is StoreOptions options ? LeftOut(options.Events) : []).ToList();
        if (leftOut.Count > 0)
        {
            throw new StartupException(
                $"Marten is configured with {string.Join(", ", leftOut)}, which the appends of this program leave out: "
                + "src/Backends/EventStore/StoredFunction.cs");
        }
    }

    private static IEnumerable<string> LeftOut(IReadOnlyEventStoreOptions events)
    {
        if (events.TenancyStyle != TenancyStyle.Single)
        {
            yield return "several tenants";
        }
        foreach (var projection in events.Projections().Where(p => p.Lifecycle == ProjectionLifecycle.Inline))
        {
            yield return $"the inline projection {projection.Name}";
        }
        var metadata = events.MetadataConfig;
        foreach (var (isOn, column) in new[]
        {
            (metadata.CorrelationIdEnabled, "correlation ids"), (metadata.CausationIdEnabled, "causation ids"),
            (metadata.HeadersEnabled, "headers"), (metadata.UserNameEnabled, "user names"),
        })
        {
            if (isOn)
            {
                yield return $"{column} of events";
            }
        }
    }

    private static IEnumerable<string> LeftOut(IEventStoreOptions events)
    {
        if (events.UseListenNotifyForEventAppends)
        {
            yield return "NOTIFY for appends";
        }
        if (events.TagTypes.Count > 0)
        {
            yield return "tags of events";
        }
    }
}
