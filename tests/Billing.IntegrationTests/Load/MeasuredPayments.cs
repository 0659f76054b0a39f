using Billing.Driver;
using Billing.IntegrationTests.Services;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Measuring;
using Billing.Measuring.Bursts;
using Billing.Measuring.Loads;
using Npgsql;
using Spectre.Console;

namespace Billing.IntegrationTests.Load;

/// <summary>The audit after a measurement, on its own stack, because a payment is deleted from its store.</summary>
public sealed class MeasuredPayments(EmbeddedStack stack) : IClassFixture<EmbeddedStack>
{
    [Fact]
    public async Task One_lost_payment_is_found_although_a_warm_up_was_stored_too()
    {
        var fleet = new Fleet(stack.Stack.Folder.FullName);
        // Payments to few accounts, so that each has several.
        var spec = new LoadSpec
        {
            Addresses = stack.Stack.ProxyAddresses,
            Protocol = LoadProtocol.Unary,
            Accounts = 1,
            WarmUp = new LoadShape.Closed(4, 0.5),
            Shape = new LoadShape.Closed(4, 3600) { Amount = 100 },
            BalancePercent = 20,
        };

        await fleet.RunAsync(spec, 2, [], TestContext.Current.CancellationToken);
        var whole = await AuditAsync(fleet);
        await LoseOneAsync();
        var lacking = await AuditAsync(fleet);

        Assert.True(whole.IsClean);
        Assert.Equal((1, 1), (whole.Events - lacking.Events, lacking.Lost));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task The_experiment_on_running_proxies_keeps_its_journals_and_audits_a_store_that_it_knows(
        bool isKnown)
    {
        var folder = Path.Combine(stack.Stack.Folder.FullName, $"targets-{isKnown}");
        using var output = new StringWriter();
        var options = new RunOptions
        {
            System = new MeasuredSystem(
                new StackOptions { Postgres = isKnown ? stack.ConnectionString : "auto" },
                stack.Stack.ProxyAddresses, folder, "./billing run"),
            Clients = 2,
            Requests = 30,
            Balances = 5,
            WarmUp = 10,
        };

        var exitCode = await new BurstRun(
            options, AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(output) }),
            TimeProvider.System)
            .RunAsync(TestContext.Current.CancellationToken);

        Assert.Equal(0, exitCode);
        Assert.Contains(
            isKnown ? "acknowledged 80, recorded 80" : "Not audited", output.ToString(), StringComparison.Ordinal);
        Assert.Equal(90, Directory.EnumerateFiles(folder, "journal.csv", SearchOption.AllDirectories)
            .Sum(file => File.ReadLines(file).Count()));
    }

    /// <summary>With a program in place of <c>ssh</c> that runs what it is told on this machine, where no machine
    /// can be logged in to.</summary>
    [Fact]
    public async Task Clients_on_other_machines_send_back_their_results_and_journals_and_leave_nothing_there()
    {
        await using var folder = StackFolder.Create();
        var ssh = Path.Combine(folder.CreateSubfolder("bin"), "ssh");
        await File.WriteAllTextAsync(
            ssh,
            $$"""
            #!/bin/sh
            while [ "$1" = -o ]; do shift 2; done
            echo "$1" >> {{folder.FullName}}/hosts
            [ "$1" != away ] || { echo 'ssh: connect to host away: No route to host' >&2; exit 255; }
            shift
            here='s#/tmp/billing-load#{{folder.FullName}}/there#'
            program='s#/opt/billing/client/Billing.Driver#dotnet {{DotnetProgram.FileOf("Billing.Driver")}}#'
            TMPDIR={{folder.FullName}} exec sh -c "$(printf %s "$*" | sed "$here; $program")"
            """,
            TestContext.Current.CancellationToken);
        await new Tool("chmod").RunAsync(["+x", ssh], TestContext.Current.CancellationToken);
        var path = new Dictionary<string, string?>
        {
            ["PATH"] = $"{Path.GetDirectoryName(ssh)}:{Environment.GetEnvironmentVariable("PATH")}",
        };
        string[] run =
        [
            "run", "--targets", string.Join(',', stack.Stack.ProxyAddresses),
            "--postgres", stack.ConnectionString, "--clients", "3",
            "--requests", "40", "--balances", "5", "--warm-up", "10", "--out",
            Path.Combine(folder.FullName, "here"), "--client-hosts",
        ];

        var (exitCode, output) = await CommandRun.ToEndAsync(folder, [.. run, "one,user@two"], path);
        var away = await CommandRun.ToEndAsync(folder, [.. run, "away"], path);

        Assert.True(exitCode == 0, output);
        Assert.Contains("acknowledged 150, recorded 150", output, StringComparison.Ordinal);
        Assert.Equal(
            ["away", "one", "user@two"],
            File.ReadLines(Path.Combine(folder.FullName, "hosts")).Distinct().Order(StringComparer.Ordinal));
        Assert.Empty(Directory.EnumerateDirectories(folder.FullName, "there*"));
        Assert.Equal(1, away.ExitCode);
        Assert.Contains(
            "--client-hosts: away: ssh: connect to host away: No route to host", away.Output, StringComparison.Ordinal);
    }

    private Task<Auditing.AuditCounts> AuditAsync(Fleet fleet) => StoreAudit.AuditAsync(
        [stack.ConnectionString], isOwn: false, [fleet],
        AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) }),
        TestContext.Current.CancellationToken);

    // Deletes the last payment of an account.
    private async Task LoseOneAsync()
    {
        await using var database = NpgsqlDataSource.Create(stack.ConnectionString);
        await using var delete = database.CreateCommand("""
            with last as (select id, version from billing.mt_streams order by version desc limit 1),
                shorter as (update billing.mt_streams s set version = s.version - 1 from last where s.id = last.id)
            delete from billing.mt_events e using last where e.stream_id = last.id and e.version = last.version
            """);
        Assert.Equal(1, await delete.ExecuteNonQueryAsync(TestContext.Current.CancellationToken));
    }
}
