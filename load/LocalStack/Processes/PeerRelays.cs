namespace Billing.LocalStack.Processes;

/// <summary>Relays through which the servers of a cluster reach each other. They are not part of the stack.</summary>
/// <param name="Ports">The port of the relay in front of each server.</param>
/// <param name="Lead">Is called with the ports of the servers before these start.</param>
public sealed record PeerRelays(IReadOnlyList<int> Ports, Action<IReadOnlyList<int>> Lead);
