using System.Runtime.CompilerServices;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Reads one statement, over several streams if a stream breaks.</summary>
internal sealed class StatementReader : IDisposable
{
    private readonly StreamCalls _streams;
    private readonly ListStatementRequest _rest;
    private uint _turn;
    private Proxy? _proxy;
    private bool _again;
    private AsyncServerStreamingCall<ListStatementResponse>? _call;

    private StatementReader(StreamCalls streams, ListStatementRequest request)
    {
        _streams = streams;
        _rest = request.Clone();
        _turn = streams.NextTurn();
    }

    public static async IAsyncEnumerable<ListStatementResponse> ReadAsync(
        StreamCalls streams, ListStatementRequest request, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        using var reader = new StatementReader(streams, request);
        while (await streams.Retries.ExecuteAsync(
            static (r, token) => r.MoveAsync(token), reader, end: null, cancellationToken)
            .ConfigureAwait(false))
        {
            yield return reader._call!.ResponseStream.Current;
            if (reader._rest.PageToken.Length == 0)
            {
                // That was the last page.
                yield break;
            }
        }
    }

    public void Dispose() => _call?.Dispose();

    private async ValueTask<bool> MoveAsync(CancellationToken cancellationToken)
    {
        var isNew = _call is null;
        if (_call is null)
        {
            var options = await _streams.OptionsAsync(cancellationToken).ConfigureAwait(false);
            _proxy = _streams.Take(ref _turn);
            if (_again)
            {
                _streams.CountRetry();
            }
            _call = _proxy.Billing.StreamStatement(_rest, options);
        }
        try
        {
            if (!await _call.ResponseStream.MoveNext(cancellationToken).ConfigureAwait(false))
            {
                return false;
            }
            if (isNew)
            {
                await _proxy!.RecordOutcomeAsync(failure: null).ConfigureAwait(false);
            }
            _rest.PageToken = _call.ResponseStream.Current.NextPageToken;
            return true;
        }
        catch (RpcException e)
        {
            _call.Dispose();
            _call = null;
            _again = true;
            cancellationToken.ThrowIfCancellationRequested();
            await _streams.FailedAsync(_proxy!, e).ConfigureAwait(false);
            if (!isNew && ProxyFailure.IsEndOfStream(e))
            {
                _again = false;
                return await MoveAsync(cancellationToken).ConfigureAwait(false);
            }
            throw;
        }
    }
}
