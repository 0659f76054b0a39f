namespace Billing.Backends.Domain;

/// <summary>Who sent a command, as a proxy authenticated the sender. It has no influence on how the
/// command is decided.</summary>
/// <param name="Subject">The subject of the token, or the name in the certificate.</param>
/// <param name="ClientId">The client id of the token; null if it has none.</param>
public sealed record Sender(string Subject, string? ClientId = null);
