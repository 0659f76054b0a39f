namespace Billing.IntegrationTests;

/// <summary>How long tests wait.</summary>
internal static class Waiting
{
    /// <summary>The longest wait for something that must happen. Only a failing test waits so long: a machine may be many times slower
    /// than the one that the test was written on.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(10);
}
