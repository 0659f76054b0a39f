using Grpc.Core;

namespace Billing.Client;

/// <summary>One unary call with all its attempts.</summary>
/// <param name="method">The gRPC method, as <c>service/method</c>.</param>
/// <param name="request">The request.</param>
/// <param name="send">Sends the request to a proxy.</param>
internal sealed class UnaryCall<TRequest, TAnswer>(
    string method, TRequest request, Func<Proxy, TRequest, CallOptions, Task<TAnswer>> send)
{
    public string Method => method;

    /// <summary>Number of attempts so far.</summary>
    public int Tries { get; private set; }

    /// <summary>Deadline, headers and token, the same for all attempts.</summary>
    public CallOptions Options { get; set; }

    public uint Turn { get; set; }

    /// <summary>The failure of the first attempt, until the retry pipeline has received it.</summary>
    public RpcException? FirstFailure { get; set; }

    /// <summary>Makes an attempt on the next proxy.</summary>
    public async Task<TAnswer> TryAsync(ProxyPool proxies)
    {
        // A retry goes to the proxy after the failed one. The shared turn could lead back to the failed proxy, because other
        // calls advance it in between.
        var turn = Tries++ == 0 ? Turn : Turn + 1;
        var proxy = proxies.Choose(ref turn);
        Turn = turn;
        try
        {
            var answer = await send(proxy, request, Options);
            await proxy.Circuit.RecordOutcomeAsync(failure: null);
            return answer;
        }
        catch (RpcException e)
        {
            await proxy.Circuit.RecordOutcomeAsync(e);
            throw;
        }
    }
}
