using Billing.Contracts;
using Billing.LocalStack.Processes;
using Billing.V1;
using Grpc.Core;

namespace Billing.ChaosTests;

/// <summary>Waits for conditions, with a time limit.</summary>
internal static class Conditions
{
    /// <summary>The longest wait for something that must happen. Only a failing test waits so long:
    /// a machine may be many times slower than the one that the test was written on.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    /// <summary>Retries a payment until it is answered, as a caller that does not know the outcome.</summary>
    public static async Task<MakePaymentResponse> RetryUntilAnsweredAsync(
        BillingService.BillingServiceClient proxy, MakePaymentRequest request, TimeSpan? deadline = null)
    {
        MakePaymentResponse? answer = null;
        await Poll.UntilAsync(async () =>
        {
            try
            {
                answer = await proxy.MakePaymentAsync(request, deadline: In(deadline ?? TimeSpan.FromSeconds(10)));
                return true;
            }
            catch (RpcException e) when (e.StatusCode is StatusCode.Unavailable or StatusCode.DeadlineExceeded)
            {
                return false;
            }
        });
        return answer!;
    }

    /// <summary>Makes a payment while the event store is unavailable.</summary>
    public static async Task<RpcException> FailureWhileStoreIsUnavailableAsync(
        BillingService.BillingServiceClient proxy, MakePaymentRequest request) =>
        await Assert.ThrowsAsync<RpcException>(
            () => proxy.MakePaymentAsync(request, deadline: In(TimeSpan.FromSeconds(60))).ResponseAsync);

    public static void AssertStoreUnavailable(RpcException failure)
    {
        Assert.Equal(StatusCode.Unavailable, failure.StatusCode);
        Assert.Equal(ErrorReasons.EventStoreUnavailable, failure.Reason());
    }

    public static DateTime In(TimeSpan time) => (TimeProvider.System.GetUtcNow() + time).UtcDateTime;
}

/// <summary>The log of a process from the creation of this object on.</summary>
internal sealed class LogTail(string file)
{
    private readonly long _start = File.Exists(file) ? new FileInfo(file).Length : 0;

    public LogTail(ChildProcess process)
        : this(process.LogFile)
    {
    }

    public string Text
    {
        get
        {
            using var log = new FileStream(
                file, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            log.Position = _start;
            using var reader = new StreamReader(log);
            return reader.ReadToEnd();
        }
    }

    public Task WaitForAsync(params string[] any) => Poll.UntilAsync(
        () => any.Any(text => Text.Contains(text, StringComparison.Ordinal)),
        what: $"{Path.GetFileName(file)} contains '{string.Join("' or '", any)}'");
}
