using Billing.Client;
using Grpc.Net.Client;

namespace Billing.Driver.Channels;

/// <summary>Opens the channels of a load.</summary>
internal static class Connections
{
    /// <summary>Opens a channel to one proxy; one of the SDK distributes its calls over all of them.</summary>
    /// <exception cref="NotSupportedException">The protocol has no tokens and no authorities of its own.</exception>
    public static IRequestChannel Open(LoadSpec spec, string address, TimeProvider time)
    {
        if (spec is { Protocol: LoadProtocol.Unary or LoadProtocol.Rest } and not { CaFile: null, TokenFile: null })
        {
            throw new NotSupportedException($"CaFile and TokenFile: the protocol {spec.Protocol} has neither.");
        }
        var deadline = TimeSpan.FromSeconds(spec.DeadlineS);
        return spec.Protocol switch
        {
            LoadProtocol.Sdk => new SdkChannel(Sdk(spec, spec.Addresses, time), spec.IsTimed, time),
            LoadProtocol.Unary => new UnaryChannel(OpenGrpc(address), spec, time),
            LoadProtocol.Stream => new DeadlineChannel(new StreamChannel(Sdk(spec, [address], time)), deadline, time),
            LoadProtocol.Rest => new DeadlineChannel(new RestChannel(address), deadline, time),
            _ => throw new InvalidOperationException($"Unknown protocol {spec.Protocol}."),
        };
    }

    private static BillingClient Sdk(LoadSpec spec, IReadOnlyList<string> addresses, TimeProvider time)
    {
        // The share of retries is not limited: a load that is meant to be too much still has to get its answers.
        var options = new BillingClientOptions
        {
            Deadline = TimeSpan.FromSeconds(spec.DeadlineS),
            RetryShare = null,
            StreamWindow = spec.StreamWindow,
            Token = spec.TokenFile is { } file ? File.ReadAllText(file).Trim() : null,
        };
        options.Tls.CaFile = spec.CaFile;
        options.RetriesMax = spec.RetriesMax ?? options.RetriesMax;
        foreach (var address in addresses)
        {
            options.Proxies.Add(address);
        }
        return new BillingClient(options, time);
    }

    // One HTTP/2 connection.
    private static GrpcChannel OpenGrpc(string address) => GrpcChannel.ForAddress(
        address, new GrpcChannelOptions
        {
            HttpHandler = new SocketsHttpHandler { EnableMultipleHttp2Connections = false },
            DisposeHttpClient = true,
        });
}
