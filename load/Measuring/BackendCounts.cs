namespace Billing.Measuring;

/// <summary>How many backends a stack has, as results keep it; the names are part of the interface.</summary>
/// <param name="Payments">Payment backends; over the direct transport, all.</param>
/// <param name="Balances">Balance backends.</param>
internal sealed record BackendCounts(int Payments, int Balances);
