using Billing.LocalStack;
using Billing.Misuse.Watching;

namespace Billing.UnitTests.Misuse;

public sealed class UnitLimitsTests
{
    public static TheoryData<ServiceRole> Roles =>
        [ServiceRole.Proxy, ServiceRole.PaymentBackend, ServiceRole.BalanceBackend, ServiceRole.Webhooks];

    [Theory]
    [MemberData(nameof(Roles))]
    public void The_limits_of_a_service_are_those_of_the_unit_that_is_shipped(ServiceRole role)
    {
        var limits = UnitLimits.Of(role);

        var name = role is ServiceRole.PaymentBackend or ServiceRole.BalanceBackend ? "backend" : $"{role}";
        var unit = File.ReadAllText(Path.Combine(
            Repository.Root, "deploy", "bootstrap", "units", $"billing-{name.ToLowerInvariant()}.service"));
        Assert.Contains($"MemoryMax={limits.MemoryMax >> 20}M\n", unit, StringComparison.Ordinal);
        Assert.NotEmpty(limits.Environment);
        Assert.All(limits.Environment, setting =>
            Assert.Contains($"{setting.Key}={setting.Value}", unit, StringComparison.Ordinal));
        Assert.Contains("DOTNET_GCHeapHardLimit", limits.Environment.Keys);
    }

    [Theory]
    [InlineData("MemoryMax=5", 5)]
    [InlineData("MemoryMax=5K", 5 * 1024)]
    [InlineData("MemoryMax=5M\nEnvironment=A=1 B=2", 5 * 1024 * 1024)]
    [InlineData("MemoryMax=1M\nMemoryMax=2G", 2L * 1024 * 1024 * 1024)]
    public void A_limit_is_a_number_of_bytes_and_the_last_one_counts(string unit, long bytes) =>
        Assert.Equal(bytes, UnitLimits.Parse(unit).MemoryMax);

    [Theory]
    [InlineData("LimitNOFILE=65536")]
    [InlineData("MemoryMax=infinity")]
    [InlineData("MemoryMax=")]
    [InlineData("MemoryMax=50%")]
    public void A_unit_without_a_limit_is_refused(string unit) =>
        Assert.Contains("MemoryMax", Assert.Throws<FormatException>(() => UnitLimits.Parse(unit)).Message);
}
