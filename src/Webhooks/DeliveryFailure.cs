namespace Billing.Webhooks;

/// <summary>Why a receiver did not take an event.</summary>
/// <param name="Reason">One of a few, as in <c>error.type</c>: a status, timeout, address, tls or connection.</param>
/// <param name="Text">What happened, for operators.</param>
/// <param name="RetryAfter">How long the receiver wants not to be asked; null if it says nothing.</param>
/// <param name="IsGone">Whether the receiver wants no more events of the account.</param>
internal sealed record DeliveryFailure(string Reason, string Text, TimeSpan? RetryAfter = null, bool IsGone = false);
