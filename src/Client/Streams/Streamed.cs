using System.Threading.Channels;
using Grpc.Core;

namespace Billing.Client;

/// <summary>A sequence of answers as gRPC's generated classes read it: each at its turn, with a
/// status at the end.</summary>
internal sealed class StreamedAnswers<T> : IAsyncStreamReader<T>, IDisposable
{
    private readonly CancellationToken _cancelled;
    private readonly CancellationTokenSource? _late;
    private readonly CancellationTokenSource _ended;
    private readonly IAsyncEnumerator<T> _answers;
    private Status? _status;

    /// <param name="read">Reads the answers, until its token is cancelled.</param>
    /// <param name="options">The deadline, if there is one, and the caller's token.</param>
    /// <param name="time">The clock.</param>
    public StreamedAnswers(Func<CancellationToken, IAsyncEnumerable<T>> read, CallOptions options, TimeProvider time)
    {
        _cancelled = options.CancellationToken;
        _late = options.Deadline is { } end
            ? new CancellationTokenSource(ProxyCalls.TimerOf(end - time.GetUtcNow().UtcDateTime), time)
            : null;
        _ended = CancellationTokenSource.CreateLinkedTokenSource(_cancelled, _late?.Token ?? CancellationToken.None);
        _answers = read(_ended.Token).GetAsyncEnumerator(_ended.Token);
    }

    /// <inheritdoc/>
    public T Current => _answers.Current;

    /// <summary>Cancelled when the caller, its deadline or <see cref="Dispose"/> has ended the stream.</summary>
    public CancellationToken Ended => _ended.Token;

    /// <exception cref="InvalidOperationException">The stream has not ended.</exception>
    public Status Status => _status ?? throw new InvalidOperationException("The stream has not ended.");

    /// <inheritdoc/>
    public async Task<bool> MoveNext(CancellationToken cancellationToken)
    {
        using var registration = cancellationToken.Register(_ended.Cancel);
        try
        {
            if (await _answers.MoveNextAsync().ConfigureAwait(false))
            {
                return true;
            }
            _status = Status.DefaultSuccess;
            return false;
        }
        catch (RpcException e)
        {
            _status = e.Status;
            throw;
        }
        catch (OperationCanceledException e) when (_ended.IsCancellationRequested)
        {
            var isLate = _late is { IsCancellationRequested: true } && !_cancelled.IsCancellationRequested
                && !cancellationToken.IsCancellationRequested;
            _status = isLate
                ? new Status(StatusCode.DeadlineExceeded, "The deadline of the stream has passed.", e)
                : new Status(StatusCode.Cancelled, "The caller cancelled the stream.", e);
            throw new RpcException(_status.Value);
        }
    }

    public void Dispose()
    {
        _ended.Cancel();
        _late?.Dispose();
    }
}

/// <summary>Requests that a caller writes one after the other, for whoever enumerates them.</summary>
/// <param name="window">How many may wait to be taken.</param>
internal sealed class StreamedRequests<T>(int window) : IClientStreamWriter<T>
{
    private readonly Channel<T> _requests = Channel.CreateBounded<T>(window);

    /// <inheritdoc/>
    public WriteOptions? WriteOptions { get; set; }

    public IAsyncEnumerable<T> ReadAllAsync() => _requests.Reader.ReadAllAsync();

    /// <summary>Takes no more requests.</summary>
    public void End() => _requests.Writer.TryComplete();

    /// <inheritdoc/>
    public Task WriteAsync(T message) => WriteAsync(message, CancellationToken.None);

    /// <inheritdoc/>
    public async Task WriteAsync(T message, CancellationToken cancellationToken)
    {
        try
        {
            await _requests.Writer.WriteAsync(message, cancellationToken).ConfigureAwait(false);
        }
        catch (ChannelClosedException e)
        {
            throw new InvalidOperationException("The stream has ended: its answers say why.", e);
        }
    }

    /// <inheritdoc/>
    public Task CompleteAsync()
    {
        End();
        return Task.CompletedTask;
    }
}
