using Billing.V1;
using Google.Protobuf;

namespace Billing.Driver.Lives;

/// <summary>What the platform answered to an authorisation, capture, void or refund.</summary>
/// <param name="Message">The whole answer; null for a refusal.</param>
/// <param name="Amount">What was captured or given back.</param>
/// <param name="Balance">What the account owed afterwards; null for a refusal.</param>
/// <param name="Version">The version of the stream that records it; 0 for a refusal.</param>
/// <param name="IsDeclined">Whether nothing was done: an authorisation was declined, or the
/// request was refused.</param>
public sealed record FollowUpAnswer(
    IMessage? Message, decimal Amount, Money? Balance, long Version, bool IsDeclined = false)
{
    /// <summary>The answer that nothing, or less than asked for, is there to be captured, released or given back:
    /// several requests that compete for the same payment cannot all be served.</summary>
    public static FollowUpAnswer Refusal { get; } = new(null, 0, null, 0, IsDeclined: true);
}
