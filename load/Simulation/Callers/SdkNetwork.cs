using System.Globalization;
using Billing.Proxy.Failures;
using Billing.Simulation.Services;
using Billing.V1;
using Grpc.Core;
using Grpc.Core.Interceptors;

namespace Billing.Simulation.Callers;

/// <summary>What lies between the SDK and the proxies: takes each attempt to the proxy that the SDK has chosen,
/// ends it at its deadline, and sometimes breaks its connection while the proxy goes on.</summary>
/// <param name="node">The process of the clients.</param>
/// <param name="scheduler">The scheduler.</param>
/// <param name="dice">Decides which connections break.</param>
/// <param name="proxies">The proxies at present.</param>
/// <param name="breaksUntil">From when on no connection breaks.</param>
internal sealed class SdkNetwork(
    Node node, Scheduler scheduler, Dice dice, Func<IReadOnlyList<ProxyNode>> proxies, TimeSpan breaksUntil)
        : Interceptor
{
    private const string Prefix = "http://proxy-";
    private const double BreakChance = 0.05;

    // Within this time of its beginning.
    private const double BreakMs = 400;

    /// <summary>The address of a proxy.</summary>
    public static string AddressOf(int number) => string.Create(CultureInfo.InvariantCulture, $"{Prefix}{number}");

    public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
        TRequest request, ClientInterceptorContext<TRequest, TResponse> context,
        AsyncUnaryCallContinuation<TRequest, TResponse> continuation)
    {
        // Its continuations run at once, without a context.
        var answer = new TaskCompletionSource<TResponse>();
        node.Run(() => _ = CallAsync(answer, ProxyOf(context.Host), request, context.Options));
        return new AsyncUnaryCall<TResponse>(
            answer.Task, Task.FromResult(Metadata.Empty), () => Status.DefaultSuccess, () => Metadata.Empty, () => { });
    }

    public override AsyncServerStreamingCall<TResponse> AsyncServerStreamingCall<TRequest, TResponse>(
        TRequest request, ClientInterceptorContext<TRequest, TResponse> context,
        AsyncServerStreamingCallContinuation<TRequest, TResponse> continuation)
    {
        var pages = new StreamedPages(move => scheduler.Post(node, move));
        node.Run(() => _ = StreamAsync(pages, ProxyOf(context.Host), (ListStatementRequest)(object)request));
        return new AsyncServerStreamingCall<TResponse>(
            (IAsyncStreamReader<TResponse>)(object)pages, Task.FromResult(Metadata.Empty),
            () => Status.DefaultSuccess, () => Metadata.Empty, () => { });
    }

    private async Task CallAsync<TRequest, TResponse>(
        TaskCompletionSource<TResponse> answer, ProxyNode proxy, TRequest request, CallOptions options)
        where TRequest : class
    {
        var left = options.Deadline!.Value - node.Time.GetUtcNow().UtcDateTime;
        using var late = scheduler.After(
            left, node, () => End(new RpcException(new Status(StatusCode.DeadlineExceeded, ""))));
        using var broken = MayBreak(End);
        try
        {
            var answered = await proxy.CallAsync(request, left);
            ContextFree.Run(() => answer.TrySetResult((TResponse)answered));
        }
        catch (Exception e)
        {
            End(AsSeen(e));
        }

        void End(Exception failure) => ContextFree.Run(() => answer.TrySetException(failure));
    }

    private async Task StreamAsync(StreamedPages pages, ProxyNode proxy, ListStatementRequest request)
    {
        using var broken = MayBreak(pages.End);
        try
        {
            await proxy.StreamAsync(request, pages, DateTime.MaxValue);
            pages.End(null);
        }
        catch (Exception e)
        {
            pages.End(AsSeen(e));
        }
    }

    private Due? MayBreak(Action<Exception> end) => scheduler.Now < breaksUntil.Ticks && dice.Chance(BreakChance)
        ? scheduler.After(
            dice.UpTo(BreakMs), node,
            () => end(new RpcException(new Status(StatusCode.Unavailable, "The connection is broken."))))
        : null;

    private ProxyNode ProxyOf(string? host) =>
        proxies()[int.Parse(host![Prefix.Length..], CultureInfo.InvariantCulture)];

    // A proxy that has crashed says nothing more.
    private static Exception AsSeen(Exception failure) => failure is FailureException e
        ? new RpcException(new Status(e.Failure.Status, e.Failure.Message))
        : failure;
}

/// <summary>The pages of one stream, as they arrive.</summary>
/// <param name="post">Runs work in its reader's process.</param>
internal sealed class StreamedPages(Action<Action> post)
    : IServerStreamWriter<ListStatementResponse>, IAsyncStreamReader<ListStatementResponse>
{
    private readonly Queue<ListStatementResponse> _pages = [];
    private TaskCompletionSource<bool>? _waiting;
    private Exception? _failure;
    private bool _hasEnded;

    public ListStatementResponse Current { get; private set; } = new();

    public WriteOptions? WriteOptions { get; set; }

    /// <summary>Ends the stream, if it has not ended.</summary>
    public void End(Exception? failure)
    {
        if (!_hasEnded)
        {
            (_hasEnded, _failure) = (true, failure);
            Move();
        }
    }

    public Task<bool> MoveNext(CancellationToken cancellationToken)
    {
        var next = _waiting = new TaskCompletionSource<bool>();
        Move();
        return next.Task;
    }

    public Task WriteAsync(ListStatementResponse message, CancellationToken cancellationToken) => WriteAsync(message);

    public Task WriteAsync(ListStatementResponse message)
    {
        _pages.Enqueue(message.Clone());
        post(Move);
        return Task.CompletedTask;
    }

    private void Move()
    {
        if (_waiting is not { } waiting || (_pages.Count == 0 && !_hasEnded))
        {
            return;
        }
        _waiting = null;
        if (_pages.TryDequeue(out var page))
        {
            Current = page;
            ContextFree.Run(() => waiting.TrySetResult(true));
        }
        else
        {
            ContextFree.Run(() => _failure is null ? waiting.TrySetResult(false) : waiting.TrySetException(_failure));
        }
    }
}
