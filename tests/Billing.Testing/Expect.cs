using Billing.Client;

namespace Billing.Testing;

/// <summary>Asserts which case an outcome of the SDK is.</summary>
public static class Expect
{
    /// <summary>Returns the answer to what was carried out.</summary>
    public static T Accepted<T>(Outcome<T> outcome)
        where T : Answer => Of(outcome, OutcomeStatus.Accepted).Accepted!;

    /// <summary>Returns why it was declined.</summary>
    public static Decline Declined<T>(Outcome<T> outcome)
        where T : Answer => Of(outcome, OutcomeStatus.Declined).Declined!;

    /// <summary>Returns why it was rejected.</summary>
    public static Rejection Rejected<T>(Outcome<T> outcome)
        where T : Answer => Of(outcome, OutcomeStatus.Rejected).Rejected!;

    /// <summary>Returns why it is not known.</summary>
    public static Uncertainty Unknown<T>(Outcome<T> outcome)
        where T : Answer => Of(outcome, OutcomeStatus.Unknown).Unknown!;

    private static Outcome<T> Of<T>(Outcome<T> outcome, OutcomeStatus status)
        where T : Answer
    {
        Assert.True(outcome.Status == status, $"It is not {status}: {outcome}");
        return outcome;
    }
}
