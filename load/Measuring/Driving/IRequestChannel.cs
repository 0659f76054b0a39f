using Billing.Contracts;
using Billing.V1;

namespace Billing.Measuring.Driving;

/// <summary>What became of a request.</summary>
/// <param name="Error">The status of a failure; null when there was an answer.</param>
/// <param name="Declined">Whether the answer declined a payment.</param>
public readonly record struct RequestOutcome(string? Error, bool Declined)
{
    /// <summary>When the steps of a payment that was timed were taken; null for others.</summary>
    public StepTimes? Times { get; init; }

    /// <summary>An answer.</summary>
    public static RequestOutcome Answered(bool declined = false) => new(null, declined);

    /// <summary>A failure.</summary>
    public static RequestOutcome Failed(string status) => new(status, false);
}

/// <summary>One connection. Its requests may be under way at the same time; no request is sent again.</summary>
public interface IRequestChannel : IAsyncDisposable
{
    /// <summary>Sends a payment and waits for what becomes of it.</summary>
    Task<RequestOutcome> PayAsync(MakePaymentRequest request);

    /// <summary>Asks for a balance and waits for what becomes of that.</summary>
    Task<RequestOutcome> CheckAsync(CheckBalanceRequest request);
}
