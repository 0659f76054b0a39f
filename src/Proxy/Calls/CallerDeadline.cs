namespace Billing.Proxy.Calls;

/// <summary>How long a caller waits.</summary>
/// <param name="Since">When the deadline was read: a timestamp of the services' <see cref="TimeProvider"/>.</param>
/// <param name="Left">The time that was left until the deadline then; null if the caller gave none, so that each command waits
/// for <see cref="ProxyOptions.DeadlineDefault"/>.</param>
public readonly record struct CallerDeadline(long Since, TimeSpan? Left);
