namespace Billing.Proxy.Calls;

/// <summary>How long a caller waits.</summary>
/// <param name="Since">When this was told, a timestamp of the services' <see cref="TimeProvider"/>.</param>
/// <param name="Left">What was left of its deadline then; null where it has none, and each command waits for
/// <see cref="ProxyOptions.DeadlineDefault"/>.</param>
public readonly record struct CallerDeadline(long Since, TimeSpan? Left);
