using Billing.UnitTests.Proxy.Security;
using Billing.UnitTests.Testing;
using Billing.V1;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.UnitTests.Proxy.Access;

/// <summary>Every method of the API.</summary>
internal static class GrpcDoors
{
    public static IEnumerable<Door> Of(SecureProxy proxy)
    {
        var invokers = new Dictionary<Uri, CallInvoker>
        {
            [proxy.Grpc] = proxy.Channel().CreateCallInvoker(),
            [proxy.Admin] = proxy.Channel(proxy.Admin).CreateCallInvoker(),
        };
        return ApiMethods.All.Select(method => new Door(
            "gRPC", method.Name, PaymentType.Mastercard, "acct-1", async (address, token) =>
            {
                var headers = new Metadata();
                if (token is not null)
                {
                    headers.Add("authorization", "Bearer " + token);
                }
                try
                {
                    var answers = await ApiMethods.CallAsync(
                        invokers[address], method.Name, MessageIds.RequestOf(method.InputType), headers);
                    return answers.Select(Refused).FirstOrDefault(told => told is not null) ?? Told.In;
                }
                catch (RpcException refused)
                {
                    return Told.By(refused);
                }
            }));
    }

    // On a stream of payments each has its own answer.
    private static Told? Refused(IMessage answer) => answer is MakePaymentsResponse { Error: { } error }
        ? new($"{(StatusCode)error.StatusCode}", error.Reason)
        : null;
}
