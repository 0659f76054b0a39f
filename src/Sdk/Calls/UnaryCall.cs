using Grpc.Core;

namespace Billing.Client;

/// <summary>One call of one answer, over all its tries.</summary>
/// <param name="method">Its gRPC method, as <c>service/method</c>.</param>
/// <param name="request">What is asked.</param>
/// <param name="send">Sends it.</param>
internal sealed class UnaryCall<TRequest, TAnswer>(
    string method, TRequest request, Func<Proxy, TRequest, CallOptions, Task<TAnswer>> send)
{
    public string Method => method;

    /// <summary>Tries so far.</summary>
    public int Tries { get; private set; }

    /// <summary>Deadline, headers and token, the same for all tries.</summary>
    public CallOptions Options { get; set; }

    public uint Turn { get; set; }

    /// <summary>How the first try failed, until whoever sees to the retries has taken that in.</summary>
    public RpcException? FirstFailure { get; set; }

    /// <summary>Makes a try, on the next proxy.</summary>
    public async Task<TAnswer> TryAsync(ProxyPool proxies)
    {
        // From the proxy that failed to the one after it: drawn from the shared turn, other calls' draws between could lead back
        // to it again and again.
        var turn = Tries++ == 0 ? Turn : Turn + 1;
        var proxy = proxies.Choose(ref turn);
        Turn = turn;
        try
        {
            var answer = await send(proxy, request, Options);
            await proxy.Circuit.LearnAsync(failure: null);
            return answer;
        }
        catch (RpcException e)
        {
            await proxy.Circuit.LearnAsync(e);
            throw;
        }
    }
}
