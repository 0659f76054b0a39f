using Billing.V1;

namespace Billing.Journals;

/// <summary>Reads amounts of the wire contract for journals and the audit, which would repeat a mistake in the
/// platform's own conversion if they shared it.</summary>
public static class WireAmount
{
    private const decimal NanosPerUnit = 1e9m;

    /// <summary>The amount; null if there is none.</summary>
    public static decimal? Of(Money? money) => money is null ? null : money.Units + (money.Nanos / NanosPerUnit);
}
