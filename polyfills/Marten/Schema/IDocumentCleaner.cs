namespace Marten.Schema;

public interface IDocumentCleaner
{
    public Task DeleteAllDocumentsAsync(CancellationToken ct = default);

    public Task DeleteAllEventDataAsync(CancellationToken ct = default);

    public Task CompletelyRemoveAllAsync(CancellationToken ct = default);
}
