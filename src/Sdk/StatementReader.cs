using System.Runtime.CompilerServices;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Reads one statement, over as many streams as it takes.</summary>
internal sealed class StatementReader : IDisposable
{
    private readonly ProxyPool _proxies;
    private readonly RetryPolicy _retries;
    private readonly Action<int> _countRetried;
    private readonly GetStatementRequest _rest;
    private uint _turn;
    private AsyncServerStreamingCall<StatementEntry>? _call;

    private StatementReader(ProxyPool proxies, RetryPolicy retries, Action<int> countRetried, GetStatementRequest request)
    {
        _proxies = proxies;
        _retries = retries;
        _countRetried = countRetried;
        _rest = request.Clone();
        _turn = proxies.NextTurn();
    }

    public static async IAsyncEnumerable<StatementEntry> ReadAsync(
        ProxyPool proxies, RetryPolicy retries, Action<int> countRetried, GetStatementRequest request,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        using var reader = new StatementReader(proxies, retries, countRetried, request);
        var left = request.Limit == 0 ? long.MaxValue : request.Limit;
        while (left-- > 0 && await reader.NextAsync(cancellationToken))
        {
            yield return reader._call!.ResponseStream.Current;
        }
    }

    public void Dispose() => _call?.Dispose();

    private async Task<bool> NextAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await MoveAsync(cancellationToken);
        }
        catch (RpcException e) when (_retries.Handles(e))
        {
            return await _retries.TryAgainAsync(
                e,
                () =>
                {
                    _countRetried(1);
                    return MoveAsync(cancellationToken);
                },
                cancellationToken);
        }
    }

    private async Task<bool> MoveAsync(CancellationToken cancellationToken)
    {
        // No deadline: how long a statement takes is up to its reader. The proxy bounds the wait for each part of it.
        _call ??= _proxies[_turn++].Billing.GetStatement(_rest, cancellationToken: cancellationToken);
        try
        {
            if (!await _call.ResponseStream.MoveNext(cancellationToken))
            {
                return false;
            }
            _rest.AfterVersion = _call.ResponseStream.Current.Version;
            // Never down to zero, which would ask for everything: the last entry is the last move.
            _rest.Limit = Math.Max(_rest.Limit - 1, Math.Min(_rest.Limit, 1));
            return true;
        }
        catch (RpcException)
        {
            _call.Dispose();
            _call = null;
            cancellationToken.ThrowIfCancellationRequested();
            throw;
        }
    }
}
