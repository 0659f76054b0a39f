using Billing.Auditing.Chains;
using Billing.Contracts;
using Billing.IntegrationTests.Webhooks;
using Billing.LocalStack;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.V1;
using Grpc.Net.Client;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>A restore of the database to an earlier time, beneath services that go on: nobody takes what is new for
/// what was lost, and what was lost comes back from the topic of events.</summary>
public sealed class Restores : IAsyncLifetime
{
    private const string Store = "billing";
    private const string Saved = "saved";

    private readonly CancellationTokenSource _patience = new(Patience, TimeProvider.System);
    private readonly FreePorts _ports = new();
    private readonly StackFolder _folder = StackFolder.Create();
    private Receiver? _receiver;
    private BillingStack? _stack;
    private GrpcChannel? _channel;

    private Receiver Webhooks => _receiver!;

    private BillingStack Stack => _stack!;

    private BillingService.BillingServiceClient Proxy => new(_channel);

    public async ValueTask InitializeAsync()
    {
        if (KafkaPrograms.FindHome() is not null)
        {
            _receiver = await new Receiver(_ports.Take()).StartAsync();
            _stack = await BillingStack.StartAsync(
                new StackOptions
                {
                    Proxies = 1,
                    PaymentBackends = 1,
                    BalanceBackends = 1,
                    Webhook = WebhookTarget.New(_receiver.Url),
                },
                new Progress<string>(), _patience.Token);
            _channel = GrpcChannel.ForAddress(_stack.ProxyAddresses[0]);
        }
    }

    public async ValueTask DisposeAsync()
    {
        _channel?.Dispose();
        if (_stack is not null)
        {
            await _stack.DisposeAsync();
        }
        if (_receiver is not null)
        {
            await _receiver.DisposeAsync();
        }
        await _folder.DisposeAsync();
        _ports.Dispose();
        _patience.Dispose();
    }

    [Fact]
    public async Task After_a_restore_new_events_are_not_taken_for_lost_ones_and_lost_ones_are_replayed_once()
    {
        Assert.SkipWhen(
            _stack is null,
            "Kafka is not available: set KAFKA_HOME to its folder or BILLING_KAFKA_ARCHIVE to its archive");
        var (gone, quiet, young) = (StackFixture.NewAccount(), StackFixture.NewAccount(), StackFixture.NewAccount());
        await PayAsync(gone, 10);
        await PayAsync(quiet, 20.50m);
        await TakenAsync(2);
        await CopyAsync(Store, Saved);

        // The lost minute.
        var sentAgain = StackFixture.Payment(gone, 1);
        await PayAsync(sentAgain);
        await PayAsync(gone, 2);
        await PayAsync(gone, 3);
        var hold = new AuthorisePaymentRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = quiet,
            PaymentType = PaymentType.Visa,
            Amount = 30m.ToMoney("USD"),
        };
        await Proxy.AuthorisePaymentAsync(hold, cancellationToken: _patience.Token);
        await Proxy.CapturePaymentAsync(
            new CapturePaymentRequest
            {
                TransactionId = Guid.NewGuid().ToString(),
                PaymentId = hold.TransactionId,
                AccountId = quiet,
                PaymentType = PaymentType.Visa,
                Amount = 5.50m.ToMoney("USD"),
            },
            cancellationToken: _patience.Token);
        await PayAsync(young, 7);
        await TakenAsync(8);
        await UntilBalanceAsync(gone, 16);
        await CopyAsync(Saved, Store);
        var began = await BillingAsync("restored");

        // Each under a version that was used before, and one by a caller who sends a lost payment again.
        Assert.Equal(2, (await PayAsync(gone, 100)).Version);
        Assert.Equal(3, (await PayAsync(sentAgain)).Version);
        await TakenAsync(10);
        await UntilBalanceAsync(gone, 111);
        var listed = await ReplayAsync();
        var applied = await ReplayAsync("--apply");
        var again = await ReplayAsync("--apply");
        await UntilBalanceAsync(quiet, 26, onHold: 24.50m);
        await UntilBalanceAsync(young, 7);
        Assert.Equal(4, (await PayAsync(quiet, 1)).Version);
        await TakenAsync(11);

        Assert.Equal(0, began.ExitCode);
        Assert.Equal((1, 1, 1), (listed.ExitCode, applied.ExitCode, again.ExitCode));
        Assert.Contains("The topic has all events since its beginning.", listed.Output, StringComparison.Ordinal);
        Assert.Contains(
            "3 events that continue their accounts, 3 that conflict.", listed.Output, StringComparison.Ordinal);
        Assert.Contains(
            $"visa/{quiet} is at version 1; 2 lost events continue it, 0 conflict.",
            listed.Output, StringComparison.Ordinal);
        Assert.Contains("it was sent again, and is recorded as version 3", listed.Output, StringComparison.Ordinal);
        Assert.Contains(
            "Stored again: 3 events. Left for a decision by hand: 3.", applied.Output, StringComparison.Ordinal);
        Assert.Contains(
            "Stored again: 0 events. Left for a decision by hand: 3.", again.Output, StringComparison.Ordinal);
        // The lost minute, what is new, and no event under two ids: what was replayed comes once more as it was.
        Assert.Equal(11, Webhooks.Taken.DistinctBy(taken => taken.Id).Count());
        Assert.Equal(11, Webhooks.Taken.DistinctBy(taken => (taken.Id, taken.Body)).Count());
        Assert.All(Webhooks.Taken, taken => Assert.True(Guid.TryParse(taken.Id, out _)));
        Assert.Equal(2, Webhooks.Taken.Where(taken => taken.TransactionId == sentAgain.TransactionId)
            .DistinctBy(taken => taken.Id).Count());
        Assert.Empty((await new ChainVerifier([Stack.ConnectionString]).RunAsync(null, _patience.Token)).Broken);
        Assert.Equal(0L, await ScalarAsync(
            "select count(*) from billing.open_holds h where not exists (select from billing.mt_events e where "
            + "e.stream_id = h.stream_id and e.data ->> 'TransactionId' = h.payment_id::text)"));
        Assert.Equal(1L, await ScalarAsync("select count(*) from billing.open_holds"));
    }

    private Task<MakePaymentResponse> PayAsync(string account, decimal amount) =>
        PayAsync(StackFixture.Payment(account, amount));

    // Until the backends have found the database again.
    private async Task<MakePaymentResponse> PayAsync(MakePaymentRequest payment)
    {
        var answer = await Poll.UntilAsync(
            async () =>
            {
                try
                {
                    return await Proxy.MakePaymentAsync(payment, cancellationToken: _patience.Token);
                }
                catch (Grpc.Core.RpcException e)
                    when (e.StatusCode is Grpc.Core.StatusCode.Unavailable or Grpc.Core.StatusCode.DeadlineExceeded)
                {
                    return null;
                }
            },
            answer => answer is not null);
        Assert.Equal(PaymentOutcome.Accepted, answer!.Outcome);
        return answer;
    }

    private async Task TakenAsync(int events)
    {
        await Poll.UntilAsync(() => Webhooks.Taken.DistinctBy(taken => taken.Id).Count() >= events);
    }

    private async Task UntilBalanceAsync(string account, decimal balance, decimal onHold = 0)
    {
        await Poll.UntilAsync(
            async () => await Proxy.CheckBalanceAsync(
                new CheckBalanceRequest { AccountId = account, PaymentType = PaymentType.Visa },
                cancellationToken: _patience.Token),
            answer => (answer.Balance.ToDecimal(), answer.OnHold?.ToDecimal() ?? 0) == (balance, onHold));
    }

    private Task<(int ExitCode, string Output)> ReplayAsync(params string[] arguments) =>
        BillingAsync(["replay", "--kafka", Stack.BootstrapServers!, .. arguments]);

    private Task<(int ExitCode, string Output)> BillingAsync(params string[] arguments) =>
        CommandRun.ToEndAsync(_folder, [.. arguments, "--postgres", Stack.ConnectionString]);

    // As a restore does it: whoever is connected is disconnected, and finds another database.
    private async Task CopyAsync(string from, string to)
    {
        var server = new NpgsqlConnectionStringBuilder(
            Stack.ConnectionString)
        { Database = "postgres", Pooling = false, CommandTimeout = 0 };
        await using var connection = new NpgsqlConnection(server.ConnectionString);
        await connection.OpenAsync(_patience.Token);
        foreach (var statement in (string[])
            [
                $"update pg_database set datallowconn = false where datname = '{Store}'",
                $"select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname in ('{from}', '{to}')",
                $"drop database if exists {to}", $"create database {to} template {from}",
                $"update pg_database set datallowconn = true where datname = '{Store}'",
            ])
        {
            await using var command = new NpgsqlCommand(statement, connection);
            await command.ExecuteNonQueryAsync(_patience.Token);
        }
    }

    private async Task<object?> ScalarAsync(string sql)
    {
        await using var database = NpgsqlDataSource.Create(Stack.ConnectionString);
        await using var command = database.CreateCommand(sql);
        return await command.ExecuteScalarAsync(_patience.Token);
    }
}
