using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>One reply and the proxy it goes to.</summary>
/// <param name="ProxyTopic">The command's <see cref="Command.ProxyTopic"/>.</param>
/// <param name="Reply">The reply.</param>
public readonly record struct Answer(string ProxyTopic, Reply Reply);

/// <summary>Where a backend's replies and events go.</summary>
public interface IAnswerPublisher
{
    /// <summary>Publishes replies, gathered by proxy, and events, in order by stream.</summary>
    /// <returns>Completes when the broker has acknowledged all of it. A reply to a proxy whose topic is gone is dropped:
    /// nobody waits for it.</returns>
    Task PublishAsync(IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken);
}
