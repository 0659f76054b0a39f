using Billing.IntegrationTests.Services;
using Billing.LocalStack.Processes;
using Billing.Webhooks;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.IntegrationTests.Webhooks;

/// <summary>The rules of deliveries, over a real database and a real receiver.</summary>
public sealed class DeliveryTests(EventStoreFixture postgres) : IClassFixture<EventStoreFixture>, IAsyncDisposable
{
    private readonly string _schema = WebhookPlatform.NewSchema();
    private readonly CancellationTokenSource _patience = new(Patience, TimeProvider.System);
    private readonly FreePorts _ports = new();
    private readonly ManualTime _time = new();
    private Receiver? _receiver;

    public async ValueTask DisposeAsync()
    {
        if (_receiver is not null)
        {
            await _receiver.DisposeAsync();
        }
        _ports.Dispose();
        _patience.Dispose();
    }

    [Fact]
    public async Task A_receiver_that_fails_for_account_after_account_gets_one_event_at_a_time_until_it_takes_one()
    {
        await using var store = Store();
        string[] accounts = [.. Enumerable.Range(0, 40).Select(number => $"a{number:00}")];
        await store.AddAsync(
            [.. accounts.SelectMany(account => (long[])[1, 2], (account, version) => Pending(account, version))],
            _patience.Token);
        var (takes, taking, together) =
            (false, 0, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        var deliveries = await DeliveriesAsync(store, TimeSpan.FromHours(1), AnswerAsync);

        await TurnsAsync(deliveries);
        var before = _receiver!.All.Count;
        _time.Advance(TimeSpan.FromHours(1.5));
        await TurnsAsync(deliveries);
        var probed = _receiver.All.Count;
        string[] tried = [.. _receiver.All.Select(received => received.Account)];
        Volatile.Write(ref takes, true);
        await TurnsAsync(deliveries);
        var early = _receiver.Taken.Count;
        _time.Advance(TimeSpan.FromHours(1.5));
        await TurnsAsync(deliveries);

        // Those that were under way at the tenth failure are answered, too.
        Assert.InRange(before, 10, 13);
        Assert.Equal((before + 1, 0), (probed, early));
        Assert.Equal(tried.Length, tried.Distinct().Count());
        // What has failed keeps its own wait, which is the database's hour.
        Assert.Equal(accounts.Except(tried).Order(), _receiver.Taken.Select(taken => taken.Account).Distinct().Order());
        Assert.Equal(2 * (accounts.Length - tried.Length), _receiver.Taken.Count);
        _receiver.IsInOrder(accounts);

        // The two events of the first account that it takes are alone; of the others, one is answered when a
        // second one has come.
        async Task<int> AnswerAsync()
        {
            if (!Volatile.Read(ref takes))
            {
                return 500;
            }
            var number = Interlocked.Increment(ref taking);
            if (number == 4)
            {
                together.SetResult();
            }
            if (number > 2)
            {
                await together.Task;
            }
            return 204;
        }
    }

    [Fact]
    public async Task The_next_event_of_an_account_is_sent_when_the_one_before_it_was_taken()
    {
        await using var store = Store();
        await store.AddAsync([Pending("a", 1), Pending("a", 2), Pending("a", 3)], _patience.Token);
        var requests = 0;
        var deliveries = await DeliveriesAsync(
            store, TimeSpan.FromMilliseconds(1), () => Task.FromResult(++requests == 2 ? 500 : 204));

        while ((await store.StatesAsync(_patience.Token)).Count > 0)
        {
            await TurnsAsync(deliveries, 1);
        }

        Assert.Equal(
            [(1, 204), (2, 500), (2, 204), (3, 204)],
            _receiver!.All.Select(received => (received.Version, received.Answer)));
    }

    [Fact]
    public async Task Of_an_account_with_large_events_a_few_are_read_at_a_time_and_always_the_next()
    {
        await using var store = Store();
        var claim = Guid.NewGuid();
        string[] sizes = [new('a', 10_000), new('b', 50_000), new('c', 10_000), new('d', 10)];
        await store.AddAsync(
            [.. sizes.Select((body, n) => Pending("a", n + 1) with { Body = body })], _patience.Token);

        Assert.Equal(["a10000", "b50000"], await ClaimedAsync(settled: 1));
        Assert.Equal(["b50000"], await ClaimedAsync(settled: 1));
        Assert.Equal(["c10000", "d10"], await ClaimedAsync(settled: 2));

        async Task<List<string>> ClaimedAsync(int settled)
        {
            var account = Assert.Single(
                await store.ClaimAsync("shop", claim, TimeSpan.FromHours(1), 16, _patience.Token));
            await store.SettleAsync(
                "shop", claim,
                [
                    new DeliveryOutcome(
                        account.StreamId, [.. account.Events.Take(settled).Select(e => e.Id)], null, TimeSpan.Zero),
                ], _patience.Token);
            return account.Events.ConvertAll(e => $"{e.Body[0]}{e.Body.Length}");
        }
    }

    [Fact]
    public async Task An_account_is_parked_when_it_has_failed_for_long_or_its_receiver_wants_no_more_of_it()
    {
        await using var store = Store();
        var claim = Guid.NewGuid();
        await store.AddAsync([Pending("a", 1), Pending("b", 1)], _patience.Token);
        List<string> parked = [];
        for (var attempt = 1; attempt <= 3; attempt++)
        {
            Assert.Equal(2, (await store.ClaimAsync("shop", claim, TimeSpan.FromHours(1), 16, _patience.Token)).Count);
            parked.AddRange(await store.SettleAsync(
                "shop", claim,
                [
                    new DeliveryOutcome("visa/a", [], new DeliveryFailure("500", "It answered 500."), TimeSpan.Zero),
                    new DeliveryOutcome(
                        "visa/b", [], new DeliveryFailure("410", "It answered 410.", IsGone: attempt == 3),
                        TimeSpan.Zero),
                ], _patience.Token));
        }

        Assert.Equal(["visa/b"], parked);
        Assert.Equal(
            [("visa/b", true, 3), ("visa/a", false, 3)], (await store.FailingAsync("shop", 100, _patience.Token))
                .Select(failing => (failing.StreamId, failing.NextIn is null, failing.Failures)));
        Assert.Equal(
            "visa/a",
            Assert.Single(await store.ClaimAsync("shop", claim, TimeSpan.FromHours(1), 16, _patience.Token)).StreamId);
    }

    [Fact]
    public async Task An_event_that_arrives_while_its_account_is_settled_is_not_left_behind()
    {
        await using var store = Store();
        var claim = Guid.NewGuid();
        await store.AddAsync([Pending("a", 1)], _patience.Token);
        Assert.Single(await store.ClaimAsync("shop", claim, TimeSpan.FromHours(1), 16, _patience.Token));

        // What is added from now on is committed when the test lets go of a lock.
        await using var database = NpgsqlDataSource.Create(postgres.Postgres.ConnectionString);
        await using var session = await database.OpenConnectionAsync(_patience.Token);
        await ExecuteAsync($"""
            create function {_schema}.wait() returns trigger language plpgsql as
                'begin perform pg_advisory_xact_lock(42); return null; end';
            create constraint trigger wait after insert on {_schema}.pending deferrable initially deferred
                for each row execute function {_schema}.wait();
            select pg_advisory_lock(42);
            """);
        var adding = store.AddAsync([Pending("a", 2)], _patience.Token);
        await WaitingAsync(1, adding);
        var settling = store.SettleAsync(
            "shop", claim, [new DeliveryOutcome("visa/a", [Id(1)], null, TimeSpan.Zero)], _patience.Token);
        await WaitingAsync(2, settling);
        await ExecuteAsync("select pg_advisory_unlock(42)");
        await Task.WhenAll(adding, settling);

        var account = Assert.Single(await store.ClaimAsync("shop", claim, TimeSpan.FromHours(1), 16, _patience.Token));
        Assert.Equal(("visa/a", 2), (account.StreamId, Assert.Single(account.Events).Id.Version));

        Task WaitingAsync(int sessions, Task orEnded) => Poll.UntilAsync(async () =>
            orEnded.IsCompleted
            || (long)(await ExecuteAsync(
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"))! >= sessions);

        async Task<object?> ExecuteAsync(string sql)
        {
            await using var command = new NpgsqlCommand(sql, session);
            return await command.ExecuteScalarAsync(_patience.Token);
        }
    }

    [Fact]
    public async Task An_account_has_one_sender_until_its_lease_ends_and_delivered_events_are_not_sent_again()
    {
        await using var store = Store();
        var (former, next, hour) = (Guid.NewGuid(), Guid.NewGuid(), TimeSpan.FromHours(1));
        await store.AddAsync([Pending("a", 1), Pending("a", 2), Pending("b", 1)], _patience.Token);

        Assert.Equal("visa/a", Assert.Single(await store.ClaimAsync(
            "shop", former, TimeSpan.FromMilliseconds(1), 1, _patience.Token)).StreamId);
        Assert.Equal("visa/b", Assert.Single(await store.ClaimAsync("shop", next, hour, 1, _patience.Token)).StreamId);
        List<ClaimedAccount> claimed = [];
        while (claimed.Count == 0)
        {
            claimed = await store.ClaimAsync("shop", next, hour, 16, _patience.Token);
        }
        await store.SettleAsync(
            "shop", former,
            [new DeliveryOutcome("visa/a", [Id(1)], new DeliveryFailure("500", "It answered 500."), TimeSpan.Zero)],
            _patience.Token);

        Assert.Equal("visa/a", Assert.Single(claimed).StreamId);
        Assert.Empty(await store.ClaimAsync("shop", former, hour, 16, _patience.Token));
        Assert.Empty(await store.FailingAsync("shop", 100, _patience.Token));
        await store.SettleAsync(
            "shop", next,
            [
                new DeliveryOutcome("visa/a", [], null, TimeSpan.Zero),
                new DeliveryOutcome("visa/b", [Id(1)], null, TimeSpan.Zero),
            ],
            _patience.Token);
        Assert.Equal(2, Assert.Single(
            Assert.Single(await store.ClaimAsync("shop", next, hour, 16, _patience.Token)).Events).Id.Version);
    }

    [Fact]
    public async Task After_a_restore_an_event_is_sent_after_the_lost_ones_whatever_their_versions()
    {
        await using var store = Store();
        // More than are claimed at once.
        var lost = Enumerable.Range(2, 25).Select(version => WebhookPlatform.Event("a", version)).ToArray();
        var anew = WebhookPlatform.Event("a", 1);
        anew.Incarnation = 7;
        // Sent again by its caller after it was lost, and decided otherwise.
        var again = WebhookPlatform.Event("a", 2);
        (again.TransactionId, again.Incarnation) = (lost[0].TransactionId, 7);
        PendingEvent[] events =
            [
                .. new[] { again, anew }.Concat(lost).Append(anew)
                    .Select(recorded => new PendingEvent("shop", "visa/a", PendingId.Of(recorded), "{}")),
            ];

        await store.AddAsync(events, _patience.Token);
        await store.AddAsync(events, _patience.Token);

        var sent = new List<PendingId>();
        for (var claim = Guid.NewGuid(); sent.Count < lost.Length + 2; claim = Guid.NewGuid())
        {
            var account = Assert.Single(
                await store.ClaimAsync("shop", claim, TimeSpan.FromHours(1), 16, _patience.Token));
            var ids = account.Events.Select(pending => pending.Id).ToArray();
            sent.AddRange(ids);
            await store.SettleAsync(
                "shop", claim, [new DeliveryOutcome("visa/a", ids, null, TimeSpan.Zero)], _patience.Token);
        }
        Assert.Equal(lost.Append(anew).Append(again).Select(PendingId.Of), sent);
        Assert.Equal(sent.Count, sent.DistinctBy(id => id.Id).Count());
    }

    private static PendingEvent Pending(string account, long version) =>
        new("shop", $"visa/{account}", Id(version), $$"""{"account_id":"{{account}}","version":{{version}}}""");

    // An id for each version.
    private static PendingId Id(long version) => new(0, version, new Guid((int)version, 0, 0, new byte[8]));

    private WebhookStore Store() => new(
        Options.Create(new WebhookOptions { ConnectionString = postgres.Postgres.ConnectionString, Schema = _schema }));

    private async Task<ReceiverDeliveries> DeliveriesAsync(
        WebhookStore store, TimeSpan retryDelay, Func<Task<int>> answer)
    {
        _receiver = await new Receiver(_ports.Take()) { Answer = (_, _) => answer() }.StartAsync();
        var receiver = new ReceiverOptions { Url = _receiver.Url, Secret = WebhookPlatform.Secret, AllowHttp = true };
        var options = new WebhookOptions
        {
            AllowedNetworks = "127.0.0.0/8",
            ConcurrencyMax = 4,
            Timeout = TimeSpan.FromMinutes(5),
            RetryDelay = retryDelay,
        };
        return new ReceiverDeliveries(
            "shop", new ReceiverClient(receiver, options, _time), store, options,
            new RetrySchedule(options, new Random(1)), _time, NullLogger.Instance);
    }

    // More turns than all events would need. The clock advances for the waits between turns: by far less than an hour.
    private async Task TurnsAsync(ReceiverDeliveries deliveries, int turns = 60)
    {
        for (var turn = 0; turn < turns; turn++)
        {
            await _time.RunToEndAsync(deliveries.RunTurnAsync(_patience.Token), TimeSpan.FromMilliseconds(100));
        }
    }
}
