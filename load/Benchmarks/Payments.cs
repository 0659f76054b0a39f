using Billing.Driver;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Benchmarks;

/// <summary>Creates the messages that the benchmarks use.</summary>
internal static class Payments
{
    private static readonly RandomRequests Requests = new(accounts: 2500, new Random(1));

    public static MakePaymentRequest Request() => Requests.Payment();

    /// <summary>Creates the command that a proxy publishes for a payment.</summary>
    public static Command Command()
    {
        var request = Request();
        return new Command
        {
            CorrelationId = 42,
            TransactionId = request.TransactionId,
            ProxyTopic = "billing.replies.20260101T000000Z-0123abcd",
            ReceivedUnixUs = 1_767_225_600_000_000,
            DeadlineUnixUs = 1_767_225_630_000_000,
            Payment = request,
        };
    }
}
