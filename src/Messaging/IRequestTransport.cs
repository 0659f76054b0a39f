using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>The proxy's side of a transport: sends commands and receives their replies.</summary>
public interface IRequestTransport
{
    /// <summary>What the transport is, for the live page.</summary>
    TransportDescription Description { get; }

    /// <summary>Sends a command to a backend that serves its account and waits for the reply. It cannot be cancelled: a command
    /// that was sent is processed, whether or not anybody waits for its reply.</summary>
    /// <param name="command">The command. The transport sets <see cref="Command.CorrelationId"/> and
    /// <see cref="Command.ProxyTopic"/>; the wait ends at the command's deadline.</param>
    /// <returns>The backend's reply, or an error reply if none arrived: DEADLINE_EXCEEDED, UNAVAILABLE or
    /// RESOURCE_EXHAUSTED.</returns>
    Task<Reply> SendAsync(Command command);
}

/// <summary>What a transport is.</summary>
/// <param name="Name">Its name: <c>kafka</c>, <c>embedded</c> or <c>direct</c>.</param>
/// <param name="InsteadOfKafka">What connects proxies and backends, as sentences for operators; null for Kafka.</param>
/// <param name="TimesSteps">Whether a payment may be timed on its way, so that it is known when it took which step.</param>
public sealed record TransportDescription(string Name, string? InsteadOfKafka, bool TimesSteps);
