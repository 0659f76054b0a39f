using Billing.LocalStack;
using Billing.V1;
using Grpc.Core;

namespace Billing.ChaosTests;

/// <summary>Tests that cause failures of a stack while payments continue.</summary>
public abstract class StackFailures
{
    protected StackFailures(StackFixture fixture)
    {
        Assert.SkipWhen(fixture.Missing is not null, fixture.Missing ?? "");
        Fixture = fixture;
    }

    protected StackFixture Fixture { get; }

    protected BillingStack Stack => Fixture.Stack;

    private protected AuditedTraffic Pay(params IReadOnlyList<string> proxies) => new(Fixture, proxies);

    private protected static async Task<RpcException?> FailureOfAsync(
        BillingService.BillingServiceClient proxy, MakePaymentRequest request)
    {
        try
        {
            await proxy.MakePaymentAsync(request);
            return null;
        }
        catch (RpcException e)
        {
            return e;
        }
    }

    private protected static async Task KillAsync(ServiceProcess service)
    {
        service.Process.Kill();
        await service.Process.WaitForExitAsync(CancellationToken.None);
    }
}
