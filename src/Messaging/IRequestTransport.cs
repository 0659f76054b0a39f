using Billing.Messaging.Requests;
using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>The proxy's side of a transport: sends requests as commands and receives the replies to them.</summary>
public interface IRequestTransport
{
    /// <summary>What the transport is.</summary>
    TransportDescription Description { get; }

    /// <summary>Sends a request to a backend that serves its account and waits for the reply. It cannot be cancelled:
    /// a command that was sent is processed, whether or not anybody waits for its reply. The wait ends at the
    /// request's deadline.</summary>
    /// <param name="request">The request.</param>
    /// <param name="stored">Called once with the partition, when the transport has stored the command: from then on no
    /// failure of this process loses it, and what is sent to that partition follows it. Not called if the transport
    /// could not store it; the reply then contains the error. Must not block. A transport that stores no commands
    /// (<see cref="TransportDescription.StoresCommands"/>) never calls it.</param>
    /// <returns>The backend's reply, or an error reply if none arrived: DEADLINE_EXCEEDED, UNAVAILABLE or
    /// RESOURCE_EXHAUSTED.</returns>
    Task<Reply> SendAsync(Request request, Action<int>? stored = null);
}

/// <summary>What a transport is.</summary>
/// <param name="Name">Its name: <c>kafka</c>, <c>embedded</c> or <c>direct</c>.</param>
/// <param name="InsteadOfKafka">What connects proxies and backends, as sentences for operators; null for Kafka.</param>
/// <param name="StoresCommands">Whether it stores each command before a backend replies to it.</param>
/// <param name="TimesSteps">Whether a payment may be timed on its way without its caller's wish,
/// for the live page.</param>
public sealed record TransportDescription(string Name, string? InsteadOfKafka, bool StoresCommands, bool TimesSteps);
