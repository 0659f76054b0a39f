namespace Billing.Backends.Balances;

/// <summary>How far a rebuild has come.</summary>
/// <param name="Events">Events read.</param>
/// <param name="EventsEstimate">Events there are to read, about; exact at the end.</param>
/// <param name="Accounts">Accounts known.</param>
public readonly record struct RebuildProgress(long Events, long EventsEstimate, int Accounts);
