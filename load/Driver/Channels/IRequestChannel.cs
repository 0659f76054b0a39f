using Billing.Client;
using Billing.Contracts;
using Billing.V1;

namespace Billing.Driver.Channels;

/// <summary>The outcome of a call.</summary>
/// <param name="Message">The answer; null if the call failed. A declined payment is an answer.</param>
/// <param name="Error">The status of a failure; empty if the call was answered.</param>
/// <param name="IsFinal">Whether a failure says that nothing was charged, now or later;
/// otherwise the outcome is unknown.</param>
public readonly record struct Answer<T>(T? Message, string Error = "", bool IsFinal = false)
    where T : class
{
    /// <summary>The times of the steps of a timed payment; null for other calls.</summary>
    public StepTimes? Times { get; init; }
}

/// <summary>One way to call the platform. Any number of calls may be in flight.</summary>
public interface IRequestChannel : IAsyncDisposable
{
    /// <summary>Number of retries that the channel made so far; 0 for channels that make none.</summary>
    long Retried => 0;

    /// <summary>Makes a payment and waits for its outcome.</summary>
    Task<Answer<MakePaymentResponse>> PayAsync(MakePaymentRequest request);

    /// <summary>Checks a balance and waits for the outcome.</summary>
    Task<Answer<CheckBalanceResponse>> CheckAsync(CheckBalanceRequest request);

    /// <summary>Sends another request and waits for the outcome.</summary>
    /// <param name="isRepeatable">Whether the same request always has the same answer, as those with an
    /// id of their own do.</param>
    /// <exception cref="NotSupportedException">The channel does not go through the SDK.</exception>
    Task<Answer<T>> AskAsync<T>(Func<BillingClient, CancellationToken, Task<T>> send, bool isRepeatable)
        where T : class =>
            throw new NotSupportedException("Only payments and balance checks are sent without the SDK.");
}
