using System.Runtime.CompilerServices;

namespace Grpc.Core;

public static class AsyncStreamReaderExtensions
{
    public static IAsyncEnumerable<T> ReadAllAsync<T>(
        this IAsyncStreamReader<T> streamReader, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(streamReader);
        return Read(streamReader, cancellationToken);
    }

    private static async IAsyncEnumerable<T> Read<T>(
        IAsyncStreamReader<T> streamReader, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        while (await streamReader.MoveNext(cancellationToken).ConfigureAwait(false))
        {
            yield return streamReader.Current;
        }
    }
}
