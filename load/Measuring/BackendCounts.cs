namespace Billing.Measuring;

/// <summary>The number of backends of a stack, as JSON results have it; the names are part of the interface.</summary>
/// <param name="Payments">Number of payment backends; over the direct transport, of all backends.</param>
/// <param name="Balances">Number of balance backends.</param>
internal sealed record BackendCounts(int Payments, int Balances);
