using Billing.Contracts;
using Billing.V1;

namespace Billing.Measuring.Driving;

/// <summary>The outcome of a request.</summary>
/// <param name="Error">The status of a failure; null if the request was answered.</param>
/// <param name="Declined">Whether the answer declined a payment.</param>
public readonly record struct RequestOutcome(string? Error, bool Declined)
{
    /// <summary>The step times of a timed payment; null for other requests.</summary>
    public StepTimes? Times { get; init; }

    /// <summary>Creates the outcome of an answered request.</summary>
    public static RequestOutcome Answered(bool declined = false) => new(null, declined);

    /// <summary>Creates the outcome of a failed request.</summary>
    public static RequestOutcome Failed(string status) => new(status, false);
}

/// <summary>One connection. It allows several requests in flight; requests are not retried.</summary>
public interface IRequestChannel : IAsyncDisposable
{
    /// <summary>Sends a payment and waits for its outcome.</summary>
    Task<RequestOutcome> PayAsync(MakePaymentRequest request);

    /// <summary>Sends a balance check and waits for its outcome.</summary>
    Task<RequestOutcome> CheckAsync(CheckBalanceRequest request);
}
