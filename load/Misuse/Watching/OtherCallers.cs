using Billing.Client;
using Billing.Driver;
using Billing.Driver.Channels;
using Billing.Driver.Metering;
using Billing.LocalStack.Credentials;

namespace Billing.Misuse.Watching;

/// <summary>What other callers got meanwhile.</summary>
/// <param name="Answered">Number of payments that were accepted or declined.</param>
/// <param name="Failures">Number of failures by what they said.</param>
/// <param name="Latencies">How long the answers took, from the moment at which each payment was due.</param>
internal sealed record OthersFigures(
    long Answered, IReadOnlyDictionary<string, long> Failures, IReadOnlyList<LatencyCount> Latencies)
{
    /// <summary>Number of failures.</summary>
    public long Failed => Failures.Values.Sum();

    /// <summary>The 99th percentile of several, in milliseconds.</summary>
    public static double P99Ms(params IEnumerable<OthersFigures> figures) =>
        LatencyHistogram.FiguresOf(figures.Select(one => one.Latencies)).P99Ms;
}

/// <summary>Callers that do no harm: they pay at a steady rate, half through the SDK and half over REST, whatever
/// becomes of earlier payments, and nothing is sent again.</summary>
internal sealed class OtherCallers : IAsyncDisposable
{
    /// <summary>When a payment counts as failed.</summary>
    public static readonly TimeSpan Deadline = TimeSpan.FromSeconds(30);

    private const double PerSecond = 100;
    private const double LongerThanAnyRun = 1e6;

    private readonly LoadDriver _driver;

    /// <summary>Creates callers of one proxy.</summary>
    /// <param name="grpc">Its address for gRPC.</param>
    /// <param name="rest">Its address for REST.</param>
    public OtherCallers(string grpc, string rest, StackCredentials credentials, string token)
    {
        var spec = new LoadSpec
        {
            Addresses = [grpc, rest],
            Connections = 2,
            Shape = LoadShape.Open.At(PerSecond, LongerThanAnyRun),
            AccountPrefix = "others-",
        };
        _driver = new LoadDriver(spec, TimeProvider.System, address => address == rest
            ? new RestPayments(rest, credentials.Handler, token)
            : new SdkChannel(Sdk(grpc, credentials.CaFile, token), isTimed: false, TimeProvider.System));
    }

    /// <summary>Pays until a token is cancelled, and waits for the last answers.</summary>
    public async Task<OthersFigures> PayAsync(CancellationToken enough)
    {
        var payments = (await _driver.RunAsync(enough)).Phases[0].Payments;
        return new OthersFigures(payments.Ok + payments.Declined, payments.Errors, payments.Latencies);
    }

    /// <summary>Closes the connections.</summary>
    public ValueTask DisposeAsync() => _driver.DisposeAsync();

    private static BillingClient Sdk(string address, string caFile, string token)
    {
        var options = new BillingClientOptions { Deadline = Deadline, RetriesMax = 0, Token = token };
        options.Proxies.Add(address);
        if (address.StartsWith("https", StringComparison.Ordinal))
        {
            options.Tls.CaFile = caFile;
        }
        return new BillingClient(options, TimeProvider.System);
    }
}
