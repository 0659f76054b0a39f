using Billing.Auditing;
using Billing.Auditing.Chains;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Services;

/// <summary>Payments of the past, stored by <c>./billing backfill</c>.</summary>
public sealed class Backfilling(EventStoreFixture store) : IClassFixture<EventStoreFixture>
{
    [Fact]
    public async Task Payments_of_the_past_are_as_backends_would_have_stored_them()
    {
        await using var folder = StackFolder.Create();
        var before = await AuditAsync();

        var (exitCode, output) = await CommandRun.ToEndAsync(
            folder, ["backfill", "--events", "7000", "--accounts", "60", "--postgres", store.Postgres.ConnectionString]);

        Assert.Equal(0, exitCode);
        Assert.Contains("7,000 payments of 60 accounts in", output, StringComparison.Ordinal);
        var after = await AuditAsync();
        Assert.True(after.IsClean, string.Join('\n', [.. after.Holes, .. after.Unbalanced, .. after.Misjudged]));
        Assert.Empty((await new ChainVerifier([store.Postgres.ConnectionString]).RunAsync(null, TestContext.Current.CancellationToken)).Broken);
        Assert.Equal((before.Events + 7000, before.Accounts + 60), (after.Events, after.Accounts));
    }

    private Task<AuditResult> AuditAsync() => new Auditor(store.Postgres.ConnectionString, "billing").RunAsync([], CancellationToken.None);
}
