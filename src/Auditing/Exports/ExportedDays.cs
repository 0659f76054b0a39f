namespace Billing.Auditing.Exports;

/// <summary>The days of an export as the audit finds them in the event store.</summary>
/// <param name="manifest">The export.</param>
internal sealed class ExportedDays(ExportManifest manifest)
{
    private readonly Dictionary<DateOnly, EventTotals> _found = manifest.Days.ToDictionary(
        day => day.Date, _ => new EventTotals());

    /// <summary>Adds an event of the store; those of other days are left out.</summary>
    public void Add(
        DateTime storedAt, string kind, string? currency, decimal amount, string? accountCurrency, decimal onHold) =>
        _found.GetValueOrDefault(DateOnly.FromDateTime(storedAt.ToUniversalTime()))
            ?.Add(kind, currency, amount, accountCurrency, onHold);

    /// <summary>The differences between the export and the store, after all events are added.</summary>
    public IEnumerable<string> Differences() => manifest.Days.SelectMany(Differences);

    private IEnumerable<string> Differences(ExportedDay day)
    {
        var found = _found[day.Date];
        foreach (var kind in day.Kinds.Keys.Union(found.Kinds.Keys))
        {
            var (exported, stored) = (day.Kinds.GetValueOrDefault(kind), found.Kinds.GetValueOrDefault(kind));
            if (exported != stored)
            {
                yield return $"{day.Date:yyyy-MM-dd}: {exported} {kind} in the export, {stored} in the store";
            }
        }
        foreach (var currency in day.Sums.Keys.Union(found.Sums.Keys))
        {
            var (exported, stored) =
                (day.Sums.GetValueOrDefault(currency) ?? [], found.Sums.GetValueOrDefault(currency) ?? []);
            foreach (var kind in exported.Keys.Union(stored.Keys)
                .Where(kind => exported.GetValueOrDefault(kind) != stored.GetValueOrDefault(kind)))
            {
                yield return $"{day.Date:yyyy-MM-dd}: {exported.GetValueOrDefault(kind) ?? "nothing"} {currency} "
                    + $"{kind} in the export, {stored.GetValueOrDefault(kind) ?? "nothing"} in the store";
            }
        }
        foreach (var currency in day.OnHold.Keys.Union(found.OnHold.Keys))
        {
            var (exported, stored) = (
                day.OnHold.GetValueOrDefault(currency) ?? "nothing",
                found.OnHold.GetValueOrDefault(currency) ?? "nothing");
            if (exported != stored)
            {
                yield return $"{day.Date:yyyy-MM-dd}: {exported} {currency} on hold in the export, "
                    + $"{stored} in the store";
            }
        }
    }
}
