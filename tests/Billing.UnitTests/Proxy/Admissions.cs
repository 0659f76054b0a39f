using Billing.Hosting;
using Billing.Proxy;
using Billing.Proxy.Limits;
using Billing.Proxy.Memory;
using Billing.Proxy.Security;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Proxy;

/// <summary>Creates the admission control of a proxy.</summary>
internal static class Admissions
{
    /// <summary>A caller with every permission.</summary>
    public static Caller Caller { get; } = new("somebody");

    /// <summary>The memory of a machine that has enough.</summary>
    public static ProxyMemory Memory => MemoryOf(new ProxyOptions());

    public static Admission With(
        ProxyOptions options, LimitOptions? limits = null, TimeProvider? time = null, MemoryBudget? memory = null) =>
        new(
            Options.Create(options), Options.Create(limits ?? new LimitOptions()), time ?? TimeProvider.System,
            MemoryOf(options, memory));

    private static ProxyMemory MemoryOf(ProxyOptions options, MemoryBudget? memory = null) =>
        new(memory ?? new MemoryBudget(1L << 46), Options.Create(options));
}
