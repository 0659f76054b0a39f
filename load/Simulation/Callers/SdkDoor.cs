using Billing.Client;
using Billing.Proxy.Failures;
using Billing.Simulation.Doors;
using Billing.V1;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Simulation.Callers;

/// <summary>The SDK of a run's clients: it calls the proxies in turn and retries, over a network of the simulation
/// instead of channels. Its awaits leave the context of their caller, so it runs without one, on the simulation's
/// thread. Left out are its circuits, whose callbacks Polly runs on the thread pool, and its streams of payments, whose
/// queues continue there.</summary>
internal sealed class SdkDoor : IDisposable
{
    private readonly BillingClient _client;
    private readonly Stubs _stubs;
    private readonly TimeProvider _time;

    public SdkDoor(Node node, SdkNetwork network, int proxyCount)
    {
        _time = node.Time;
        var options = new BillingClientOptions { CircuitCallsMin = 100_000, Interceptors = { network } };
        for (var number = 0; number < proxyCount; number++)
        {
            options.Proxies.Add(SdkNetwork.AddressOf(number));
        }
        _client = new BillingClient(options, new ContextFreeTime(node.Time));
        _stubs = new Stubs(_client.CallInvoker);
    }

    /// <summary>Whether any request was retried.</summary>
    public bool HasRetried => _client.Retried > 0;

    /// <summary>Makes a request.</summary>
    /// <exception cref="FailureException">The request failed. What the SDK does not call a rejection is UNAVAILABLE or
    /// DEADLINE_EXCEEDED, without a reason: it may be carried out, however the last attempt ended.</exception>
    public Task<TAnswer> CallAsync<TRequest, TAnswer>(Ask<TRequest, TAnswer> ask, TRequest request, TimeSpan deadline)
        where TRequest : class, IMessage<TRequest>, new()
        where TAnswer : class, IMessage<TAnswer>, new() =>
        AnsweredAsync(() => ask.Call(_stubs, request, Options(deadline)).ResponseAsync);

    /// <summary>Reads a statement as a stream, without a deadline, as the SDK's own method does.
    /// (One that ends a wait before a retry would continue on the thread pool.)</summary>
    /// <returns>Its entries.</returns>
    /// <exception cref="FailureException">The stream failed.</exception>
    public Task<List<StatementEntry>> StreamAsync(ListStatementRequest request) => AnsweredAsync(async () =>
    {
        var entries = new List<StatementEntry>();
        using var call = _stubs.Billing.StreamStatement(request);
        while (await call.ResponseStream.MoveNext(CancellationToken.None).ConfigureAwait(false))
        {
            entries.AddRange(call.ResponseStream.Current.Entries);
        }
        return entries;
    });

    public void Dispose() => _client.Dispose();

    private static async Task<T> AnsweredAsync<T>(Func<Task<T>> call)
    {
        try
        {
            return await ContextFree.Run(call);
        }
        catch (RpcException e)
        {
            var failure = GrpcFailures.Of(e);
            throw new FailureException(Outcomes.IsRejection(e) ? failure : failure with
            {
                Status = failure.Status == StatusCode.DeadlineExceeded ? failure.Status : StatusCode.Unavailable,
                Reason = "",
            });
        }
    }

    private CallOptions Options(TimeSpan deadline) => new(deadline: (_time.GetUtcNow() + deadline).UtcDateTime);
}
