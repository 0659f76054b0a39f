using System.Runtime.CompilerServices;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Reads one statement, over several streams if a stream breaks.</summary>
internal sealed class StatementReader : IDisposable
{
    private readonly StreamCalls _streams;
    private readonly GetStatementRequest _rest;
    private uint _turn;
    private Proxy? _proxy;
    private bool _again;
    private AsyncServerStreamingCall<StatementEntry>? _call;

    private StatementReader(StreamCalls streams, GetStatementRequest request)
    {
        _streams = streams;
        _rest = request.Clone();
        _turn = streams.NextTurn();
    }

    public static async IAsyncEnumerable<StatementEntry> ReadAsync(
        StreamCalls streams, GetStatementRequest request, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        using var reader = new StatementReader(streams, request);
        var left = request.Limit == 0 ? long.MaxValue : request.Limit;
        while (left-- > 0 && await streams.Retries.ExecuteAsync(static (r, token) => r.MoveAsync(token), reader, end: null, cancellationToken))
        {
            yield return reader._call!.ResponseStream.Current;
        }
    }

    public void Dispose() => _call?.Dispose();

    private async ValueTask<bool> MoveAsync(CancellationToken cancellationToken)
    {
        var isNew = _call is null;
        if (_call is null)
        {
            var options = await _streams.OptionsAsync(cancellationToken);
            _proxy = _streams.Take(ref _turn);
            if (_again)
            {
                _streams.CountRetry();
            }
            _call = _proxy.Billing.GetStatement(_rest, options);
        }
        try
        {
            if (!await _call.ResponseStream.MoveNext(cancellationToken))
            {
                return false;
            }
            if (isNew)
            {
                await _proxy!.RecordOutcomeAsync(failure: null);
            }
            _rest.AfterVersion = _call.ResponseStream.Current.Version;
            // Never reduced to zero, which means no limit; ReadAsync stops after the last entry.
            _rest.Limit = Math.Max(_rest.Limit - 1, Math.Min(_rest.Limit, 1));
            return true;
        }
        catch (RpcException e)
        {
            _call.Dispose();
            _call = null;
            _again = true;
            cancellationToken.ThrowIfCancellationRequested();
            await _streams.FailedAsync(_proxy!, e);
            throw;
        }
    }
}
