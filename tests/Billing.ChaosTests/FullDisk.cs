using System.Globalization;
using Billing.LocalStack.Processes;
using Billing.V1;
using Grpc.Core;
using Npgsql;

namespace Billing.ChaosTests;

/// <summary>The event store's disk is full: a small file system, mounted for the test, contains the tables to which
/// payments are written, and a ballast file fills the rest of it.</summary>
[Collection(OverBrokers.Name)]
public sealed class FullDisk(BrokerStack stack) : IAsyncLifetime
{
    private static readonly string[] Tables = ["mt_events", "mt_streams"];

    private readonly StackFolder _folder = StackFolder.Create();
    private string _disk = "";

    public async ValueTask InitializeAsync()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        Assert.SkipUnless(Environment.IsPrivilegedProcess, "only root may mount a small file system");
        _disk = _folder.CreateSubfolder("disk");
        try
        {
            var megabytes = 8 + (await SizeAsync() / 1_000_000 * 3);
            await RunAsync(
                "mount", "-t", "tmpfs", "-o",
                string.Create(CultureInfo.InvariantCulture, $"size={megabytes}m,mode=0755"), "billing-test", _disk);
        }
        catch (StackException e)
        {
            await _folder.DisposeAsync();
            Assert.Skip("a small file system cannot be mounted here: " + e.Message.Split('\n')[0]);
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_disk.Length > 0)
        {
            await RunAsync("umount", _disk);
            await _folder.DisposeAsync();
        }
    }

    [Fact]
    public async Task A_full_disk_causes_a_delay_then_errors_and_every_payment_is_recorded_once_when_there_is_space()
    {
        var ballast = Path.Combine(_disk, "ballast");
        await MoveToAsync("small");
        try
        {
            await using var traffic = new AuditedTraffic(stack);
            await traffic.WaitForMoreAsync(100);
            var store = new LogTail(stack.Stack.Folder.LogFile("postgres"));

            await FillAsync(ballast);
            await store.WaitForAsync("No space left on device");
            var (request, failure) = await PayUntilRefusedAsync();
            File.Delete(ballast);
            var paid = await Conditions.RetryUntilAnsweredAsync(stack.Proxy(), request);
            await traffic.WaitForMoreAsync(150);

            await traffic.EndCleanAsync();
            Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
            Assert.Equal(1, await stack.CountEventsAsync(request.AccountId));
            Conditions.AssertStoreUnavailable(failure);
        }
        finally
        {
            File.Delete(ballast);
            await MoveToAsync("pg_default");
        }
    }

    /// <summary>Makes payments until one fails: on a full disk the first ones may fit into partly filled
    /// pages of the tables.</summary>
    private async Task<(MakePaymentRequest Request, RpcException Failure)> PayUntilRefusedAsync()
    {
        (MakePaymentRequest, RpcException)? refused = null;
        await Poll.UntilAsync(async () =>
        {
            var request = StackFixture.Payment();
            try
            {
                await stack.Proxy().MakePaymentAsync(request, deadline: Conditions.In(TimeSpan.FromSeconds(60)));
            }
            catch (RpcException e)
            {
                refused = (request, e);
            }
            return refused is not null;
        });
        return refused!.Value;
    }

    private static async Task FillAsync(string path)
    {
        await using var file = File.Create(path);
        var block = new byte[4096];
        try
        {
            while (true)
            {
                await file.WriteAsync(block);
                await file.FlushAsync();
            }
        }
        catch (IOException)
        {
            // The disk is full, as intended.
        }
    }

    private async Task MoveToAsync(string tablespace)
    {
        await using var database = NpgsqlDataSource.Create(stack.ConnectionString);
        if (tablespace == "small")
        {
            var folder = Path.Combine(_disk, "tables");
            Directory.CreateDirectory(folder);
            await RunAsync("chown", "--reference", Path.Combine(stack.Stack.Folder.FullName, "postgres"), folder);
            await ExecuteAsync(database, $"create tablespace small location '{folder}'");
        }
        foreach (var table in Tables)
        {
            await ExecuteAsync(database, $"alter table billing.{table} set tablespace {tablespace}");
        }
        if (tablespace != "small")
        {
            await ExecuteAsync(database, "drop tablespace small");
        }
    }

    private async Task<long> SizeAsync()
    {
        await using var database = NpgsqlDataSource.Create(stack.ConnectionString);
        await using var command = database.CreateCommand(
            "select sum(pg_table_size(('billing.' || name)::regclass))::bigint from unnest($1) as name");
        command.Parameters.AddWithValue(Tables);
        return (long)(await command.ExecuteScalarAsync())!;
    }

    private static async Task ExecuteAsync(NpgsqlDataSource database, string sql)
    {
        await using var command = database.CreateCommand(sql);
        command.CommandTimeout = (int)Conditions.Patience.TotalSeconds;
        await command.ExecuteNonQueryAsync();
    }

    private Task RunAsync(string program, params string[] arguments) => ChildProcess.RunAsync(
        new ChildProcessStart(program, program, arguments, _folder.LogFile(program)),
        Conditions.Patience, CancellationToken.None);
}
