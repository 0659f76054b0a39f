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

    /// <summary>Chooses the proxy of the next try.</summary>
    public Proxy NextProxy(ProxyPool proxies)
    {
        // From the proxy that failed to the one after it: drawn from the shared turn, other calls' draws between could lead back
        // to it again and again.
        var turn = Tries++ == 0 ? Turn : Turn + 1;
        var proxy = proxies.Choose(ref turn);
        Turn = turn;
        return proxy;
    }

    public ValueTask<TAnswer> SendAsync(Proxy proxy) => new(send(proxy, request, Options));
}
