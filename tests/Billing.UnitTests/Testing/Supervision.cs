using Billing.Hosting;
using Microsoft.Extensions.Hosting.Internal;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Testing;

/// <summary>Creates supervisors for services that run in a test.</summary>
internal static class Supervision
{
    public static Supervisor New() =>
        new(new ApplicationLifetime(NullLogger<ApplicationLifetime>.Instance), NullLogger<Supervisor>.Instance);
}
