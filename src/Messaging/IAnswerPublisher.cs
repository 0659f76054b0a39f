using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>One reply and its destination, the command's <see cref="Command.ProxyTopic"/>.</summary>
public readonly record struct Answer(string ProxyTopic, Reply Reply);

/// <summary>Publishes a backend's replies and events, and the commands that backends send to each other.</summary>
public interface IAnswerPublisher
{
    /// <summary>Publishes replies, batched per proxy, and events, in order within each stream.</summary>
    /// <returns>Completes when the broker has acknowledged all of them. A reply to a proxy whose topic does not exist
    /// any more is dropped, because no call waits for it.</returns>
    Task PublishAsync(IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken);

    /// <summary>Sends a command to the backend that owns its account. There is no reply.</summary>
    /// <returns>Completes when the broker has acknowledged it.</returns>
    /// <exception cref="Exception">It may or may not arrive.</exception>
    Task SendAsync(Command command);
}
