namespace Grpc.Core;

public interface IAsyncStreamReader<out T>
{
    public T Current { get; }

    public Task<bool> MoveNext(CancellationToken cancellationToken);
}

public interface IAsyncStreamWriter<in T>
{
    public WriteOptions? WriteOptions { get; set; }

    public Task WriteAsync(T message);

    /// <summary>A writer that knows nothing of cancellation refuses a token rather than ignore it.</summary>
    public Task WriteAsync(T message, CancellationToken cancellationToken) =>
        cancellationToken.CanBeCanceled
            ? throw new NotSupportedException(
                "Cancellation of stream writes is not supported by this gRPC implementation.")
            : WriteAsync(message);
}

public interface IClientStreamWriter<in T> : IAsyncStreamWriter<T>
{
    public Task CompleteAsync();
}

public interface IServerStreamWriter<in T> : IAsyncStreamWriter<T>
{
}

public static class AsyncStreamReaderExtensions
{
    public static Task<bool> MoveNext<T>(this IAsyncStreamReader<T> streamReader)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(streamReader);
        return streamReader.MoveNext(CancellationToken.None);
    }
}
