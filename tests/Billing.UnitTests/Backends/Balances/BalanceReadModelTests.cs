using Billing.Backends;
using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Messaging;
using Billing.UnitTests.Testing;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.UnitTests.Backends.Balances;

public sealed class BalanceReadModelTests : IDisposable
{
    private const string Stream = "visa/acct-42";

    private static readonly Account Opened = Account.Opened(1000);
    private static readonly Account Stored = new(3, 60, 1000, "USD");

    private readonly ManualTime _time = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly StoreOfOne _store = new();
    private readonly BalanceView _view;
    private readonly BalanceReadModel _model;

    public BalanceReadModelTests()
    {
        _view = new BalanceView(Opened, _time);
        _model = new BalanceReadModel(
            _view, _store, _store, new EventStoreRetry(_time), Options.Create(new BackendOptions()), Supervision.New(), _time,
            NullLogger<BalanceReadModel>.Instance);
    }

    public void Dispose()
    {
        _model.Dispose();
        _stop.Dispose();
    }

    [Fact]
    public async Task An_account_that_misses_an_event_is_read_from_the_store()
    {
        var running = _model.RunAsync(_stop.Token);
        _model.Apply([History.Of(Stream, 10, 20, 30)[2]]);

        await UntilReadAsync();

        Assert.Equal(Stored, _view.Get(Stream));
        await EndAsync(running);
    }

    [Fact]
    public async Task An_unavailable_store_is_queried_until_it_answers()
    {
        _store.Failures = 30;
        var running = _model.RunAsync(_stop.Token);
        _model.Apply([History.Of(Stream, 10, 20, 30)[2]]);

        await UntilReadAsync();

        Assert.Equal(Stored, _view.Get(Stream));
        Assert.Equal(0, _store.Failures);
        await EndAsync(running);
    }

    // It takes milliseconds; without a bound, a model that never reads would hang the test instead of failing it.
    private async Task UntilReadAsync()
    {
        using var patience = new CancellationTokenSource(TimeSpan.FromMinutes(1), TimeProvider.System);
        while (_view.Get(Stream).Version < Stored.Version)
        {
            patience.Token.ThrowIfCancellationRequested();
            _time.Advance(TimeSpan.FromSeconds(1));
            await Task.Yield();
        }
    }

    private async Task EndAsync(Task running)
    {
        await _stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
    }

    private sealed class StoreOfOne : IAccountStore, IEventScan
    {
        /// <summary>Number of calls that still fail.</summary>
        public int Failures { get; set; }

        public Task<Dictionary<string, Account>> LoadAsync(string[] streamIds, Account opened, CancellationToken cancellationToken) =>
            Failures > 0 && Failures-- > 0
                ? Task.FromException<Dictionary<string, Account>>(new NpgsqlException("unavailable", new IOException()))
                : Task.FromResult(streamIds.ToDictionary(id => id, _ => Stored, StringComparer.Ordinal));

        public Task<Dictionary<Guid, Wire.V1.Event>> FindReceiptsAsync(Guid[] transactionIds, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public Task<Dictionary<Guid, Wire.V1.Event>> CloseAsync(Guid[] transactionIds, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public Task<Dictionary<SourcePartition, long>> BeginEpochsAsync(
            IReadOnlyCollection<PartitionEpoch> owned, CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task AppendAsync(
            IReadOnlyList<NewEvent> batch, IReadOnlyCollection<PartitionEpoch> owned, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public Task<long> LastAsync(CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task<(int Count, long Last)> ReadPageAsync(
            long after, int limit, Action<StoredEvent> take, CancellationToken cancellationToken) => throw new NotSupportedException();
    }
}
