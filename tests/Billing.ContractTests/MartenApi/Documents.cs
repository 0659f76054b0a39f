using Marten.Exceptions;

namespace Billing.ContractTests.MartenApi;

public sealed class Documents(PostgresFixture postgres) : StoreTest(postgres)
{
    [Fact]
    public async Task A_stored_document_loads_by_its_id_and_the_last_one_stored_counts()
    {
        await using var session = Store.LightweightSession();
        session.Store(new Receipt { Id = "p1", Answer = "no" }, new Receipt { Id = "p2", Answer = "yes" });
        session.Store(new Receipt { Id = "p1", Answer = "yes" });
        await session.SaveChangesAsync();
        session.Store(new Receipt { Id = "p2", Answer = "maybe" });
        await session.SaveChangesAsync();

        Assert.Equal("yes", (await session.LoadAsync<Receipt>("p1"))!.Answer);
        Assert.Equal("maybe", (await session.LoadAsync<Receipt>("p2"))!.Answer);
        Assert.Null(await session.LoadAsync<Receipt>("p3"));
    }

    [Fact]
    public async Task Guids_and_numbers_are_ids_too_and_an_empty_guid_is_filled_in()
    {
        var snapshot = new Snapshot { Balance = 7 };
        await using var session = Store.LightweightSession();
        session.Store(snapshot);
        session.Store(new Counter { Id = 5, Value = 3 });
        await session.SaveChangesAsync();

        Assert.NotEqual(Guid.Empty, snapshot.Id);
        Assert.Equal(7, (await session.LoadAsync<Snapshot>(snapshot.Id))!.Balance);
        Assert.Equal(3, (await session.LoadAsync<Counter>(5L))!.Value);
    }

    [Fact]
    public async Task Many_documents_load_at_once_and_those_that_are_not_there_are_left_out()
    {
        var token = TestContext.Current.CancellationToken;
        var ids = new[] { Guid.NewGuid(), Guid.NewGuid() };
        await using var session = Store.LightweightSession();
        session.Store(Enumerable.Range(0, 100).Select(i => new Receipt { Id = $"p{i}" }));
        session.Store(ids.Select(id => new Snapshot { Id = id }));
        await session.SaveChangesAsync(token);

        var receipts = await session.LoadManyAsync<Receipt>(token, "p1", "p99", "p100");
        var more = await session.LoadManyAsync<Receipt>(token, new List<string> { "p2" });
        var snapshots = await session.LoadManyAsync<Snapshot>(token, ids);

        Assert.Equal(["p1", "p99"], receipts.Select(r => r.Id).Order(StringComparer.Ordinal));
        Assert.Single(more);
        Assert.Equal(ids.Order(), snapshots.Select(s => s.Id).Order());
    }

    [Fact]
    public async Task Documents_are_deleted_by_id_and_by_themselves()
    {
        var snapshot = new Snapshot { Id = Guid.NewGuid() };
        await using var session = Store.LightweightSession();
        session.Store(new Receipt { Id = "p1" }, new Receipt { Id = "p2" }, new Receipt { Id = "p3" });
        session.Store(snapshot);
        await session.SaveChangesAsync();

        session.Delete<Receipt>("p1");
        session.Delete(new Receipt { Id = "p2" });
        session.Delete<Snapshot>(snapshot.Id);
        await session.SaveChangesAsync();

        Assert.Equal(["p3"], (await session.LoadManyAsync<Receipt>("p1", "p2", "p3")).Select(r => r.Id));
        Assert.Null(await session.LoadAsync<Snapshot>(snapshot.Id));
    }

    [Fact]
    public async Task Inserting_a_document_that_is_there_is_refused_and_undoes_everything()
    {
        await using var session = Store.LightweightSession();
        session.Insert(new Receipt { Id = "p1", Answer = "first" });
        await session.SaveChangesAsync();
        session.Events.StartStream("visa/a", new PaymentAccepted("p1", 1));
        session.Insert(new Receipt { Id = "p0" }, new Receipt { Id = "p1", Answer = "second" });

        var refused = await Assert.ThrowsAsync<DocumentAlreadyExistsException>(() => session.SaveChangesAsync());

        Assert.Equal("p1", refused.Id);
        Assert.Equal(typeof(Receipt), refused.DocType);
        Assert.Equal("first", (await session.LoadAsync<Receipt>("p1"))!.Answer);
        Assert.Empty(await FetchAsync("visa/a"));
    }

    [Fact]
    public async Task Updating_a_document_that_is_not_there_is_refused_and_undoes_everything()
    {
        await using var session = Store.LightweightSession();
        session.Insert(new Receipt { Id = "p1", Answer = "first" });
        await session.SaveChangesAsync();
        session.Events.StartStream("visa/b", new PaymentAccepted("p1", 1));
        session.Update(new Receipt { Id = "p1", Answer = "second" });
        session.Update(new Receipt { Id = "p2", Answer = "second" });

        await Assert.ThrowsAsync<NonExistentDocumentException>(() => session.SaveChangesAsync());

        Assert.Equal("first", (await session.LoadAsync<Receipt>("p1"))!.Answer);
        Assert.Empty(await FetchAsync("visa/b"));
    }

    [Fact]
    public async Task An_update_changes_the_document()
    {
        await using var session = Store.LightweightSession();
        session.Insert(new Receipt { Id = "p1", Answer = "first" });
        await session.SaveChangesAsync();

        session.Update(new Receipt { Id = "p1", Answer = "second" });
        await session.SaveChangesAsync();

        Assert.Equal("second", (await session.LoadAsync<Receipt>("p1"))!.Answer);
    }

    [Fact]
    public async Task All_documents_are_deleted_and_the_events_stay()
    {
        await StartAsync("visa/c", new PaymentAccepted("p1", 1));
        await using var session = Store.LightweightSession();
        session.Store(new Receipt { Id = "p1" });
        await session.SaveChangesAsync();

        await Store.Advanced.Clean.DeleteAllDocumentsAsync();

        Assert.Null(await session.LoadAsync<Receipt>("p1"));
        Assert.Single(await FetchAsync("visa/c"));
    }

    [Fact]
    public async Task All_events_are_deleted_and_the_documents_stay()
    {
        await StartAsync("visa/d", new PaymentAccepted("p1", 1));
        await using var session = Store.LightweightSession();
        session.Store(new Receipt { Id = "p1" });
        await session.SaveChangesAsync();

        await Store.Advanced.Clean.DeleteAllEventDataAsync();

        Assert.NotNull(await session.LoadAsync<Receipt>("p1"));
        Assert.Empty(await FetchAsync("visa/d"));
    }
}
