using Billing.Proxy;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Proxy;

/// <summary>Creates the admission control of a proxy.</summary>
internal static class Admissions
{
    /// <summary>A caller with every permission.</summary>
    public static Caller Caller { get; } = new("somebody");

    public static Admission With(ProxyOptions options, LimitOptions? limits = null, TimeProvider? time = null) =>
        new(Options.Create(options), Options.Create(limits ?? new LimitOptions()), time ?? TimeProvider.System);
}
