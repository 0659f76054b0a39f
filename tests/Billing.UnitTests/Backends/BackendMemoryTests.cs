using Billing.Backends;
using Billing.Backends.Hosting;
using Billing.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Backends;

public sealed class BackendMemoryTests
{
    // That of the unit in deploy/bootstrap/units.
    private static readonly MemoryBudget Unit = new(0x12000000);

    [Fact]
    public void A_balance_backend_without_settings_holds_the_accounts_of_half_of_its_memory()
    {
        var options = Of(Unit, ("Role", "Balances"));

        Assert.Equal(Unit.Share(50) / BackendMemory.ViewedAccountBytes, options.ViewAccountsMax);
        Assert.Equal(2 * options.ViewAccountsMax, Of(new(2 * Unit.Bytes), ("Role", "Balances")).ViewAccountsMax, 10.0);
        Assert.Null(BackendMemory.Excess(options, Unit, databases: 1));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    public void A_payment_backend_without_settings_caches_the_accounts_of_a_fifth_of_its_memory_in_all(int databases)
    {
        var options = Of(Unit, [("Role", "Payments"), .. Enumerable.Range(0, databases)
            .Select(n => ($"../EventStore:Databases:d{n}", "Host=localhost"))]);

        Assert.Equal(
            Unit.Share(20) / (BackendMemory.CachedAccountBytes * databases), options.CachedAccountsMax);
        Assert.Null(BackendMemory.Excess(options, Unit, databases));
    }

    [Fact]
    public void A_setting_is_kept_and_if_the_memory_is_too_small_for_it_the_log_says_so()
    {
        var options = Of(Unit, ("Role", "Balances"), ("ViewAccountsMax", "1000000"), ("CachedAccountsMax", "7"));

        Assert.Equal((1_000_000, 7), (options.ViewAccountsMax, options.CachedAccountsMax));
        Assert.StartsWith(
            "Billing:Backend:ViewAccountsMax is 1000000, which may take ",
            BackendMemory.Excess(options, Unit, databases: 1), StringComparison.Ordinal);
        Assert.Null(BackendMemory.Excess(options, new MemoryBudget(8L << 30), databases: 1));
    }

    [Fact]
    public void A_view_of_fewer_accounts_than_any_can_hold_is_refused() => Assert.Equal(
        "Billing:Backend:ViewAccountsMax must be 0 or at least 3; it is 2.",
        Assert.Single(Assert.Throws<OptionsValidationException>(
            () => Of(Unit, ("Role", "Balances"), ("ViewAccountsMax", "2"))).Failures));

    [Theory]
    [InlineData(1)]
    [InlineData(1_000_000)]
    [InlineData(0x12000000)]
    [InlineData(1L << 45)]
    public void Whatever_memory_there_is_the_sizes_are_within_the_bounds_of_their_settings(long bytes)
    {
        foreach (var role in new[] { "Balances", "Payments" })
        {
            var options = Of(new MemoryBudget(bytes), ("Role", role));

            Assert.Empty(SettingsValidation.Problems(options, BackendOptions.Section));
            Assert.Empty(options.ValidationErrors());
            Assert.InRange(options.StoredAnswersMax, 1, 10_000);
        }
    }

    [Theory]
    [InlineData(BackendRole.Payments)]
    [InlineData(BackendRole.Balances)]
    public void The_parts_of_a_backend_leave_a_fifth_of_its_memory_to_what_passes(BackendRole role)
    {
        var options = Of(Unit, ("Role", role.ToString()));
        var (accounts, answers) = role == BackendRole.Payments
            ? ((long)options.CachedAccountsMax * BackendMemory.CachedAccountBytes, 0L)
            : ((long)options.ViewAccountsMax * BackendMemory.ViewedAccountBytes,
                (long)options.StoredAnswersMax * BackendMemory.StoredAnswerBytes);

        Assert.InRange(
            accounts + answers + BackendMemory.Commands(Unit, role).BytesMax, Unit.Share(40), Unit.Share(80));
    }

    private static BackendOptions Of(MemoryBudget budget, params (string Name, string Value)[] settings)
    {
        var configuration = new ConfigurationBuilder().AddInMemoryCollection(settings.ToDictionary(
            setting => setting.Name.StartsWith("../", StringComparison.Ordinal)
                ? "Billing:" + setting.Name[3..]
                : BackendOptions.Section + ":" + setting.Name,
            setting => (string?)setting.Value)).Build();
        using var provider = new ServiceCollection().AddSingleton(budget).AddBackendCore(configuration)
            .BuildServiceProvider();
        return provider.GetRequiredService<IOptions<BackendOptions>>().Value;
    }
}
