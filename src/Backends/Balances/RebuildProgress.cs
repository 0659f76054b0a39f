namespace Billing.Backends.Balances;

/// <summary>The progress of a rebuild.</summary>
/// <param name="Events">Events read so far.</param>
/// <param name="EventsEstimate">The approximate total of events to read; exact at the end.</param>
/// <param name="Accounts">Accounts in the view so far.</param>
public readonly record struct RebuildProgress(long Events, long EventsEstimate, int Accounts);
