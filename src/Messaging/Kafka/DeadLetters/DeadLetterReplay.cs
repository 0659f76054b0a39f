using System.Text;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Google.Protobuf;

namespace Billing.Messaging.Kafka.DeadLetters;

/// <summary>Sends dead letters back to their original topics.</summary>
public sealed class DeadLetterReplay : IDisposable
{
    /// <summary>Header with the id of the dead letter that a record was replayed from.</summary>
    public const string ReplayedFromHeader = "billing-replayed-from";


    private readonly IProducer<byte[], byte[]> _producer;

    /// <summary>Creates the producer; nothing is sent yet.</summary>
    public DeadLetterReplay(KafkaOptions options) =>
        _producer = KafkaClients.Producer<byte[], byte[]>(
            options.Producer("billing-dead-letters", CommandDeadline.SendingMax));

    /// <summary>Returns why a dead letter cannot be replayed; null if it can.</summary>
    public static string? Refusal(DeadLetter letter)
    {
        if (!Topics.AllPayments.Contains(letter.Topic) && !Topics.AllBalances.Contains(letter.Topic)
            && letter.Topic != Topics.Events)
        {
            return letter.Topic.Length == 0
                ? "its original topic is unknown"
                : $"its original topic is '{letter.Topic}', and only requests and events can be replayed";
        }
        return letter.TruncatedFrom is { } bytes ? $"its value was truncated: the record had {bytes} bytes" : null;
    }

    /// <summary>Sends a dead letter to its original topic, with its original key, value and headers, and waits for the
    /// acknowledgement.</summary>
    /// <param name="letter">A dead letter that <see cref="Refusal"/> does not refuse.</param>
    /// <param name="keepDeadline">Whether a command keeps its deadline; it is then likely to be
    /// refused as expired.</param>
    /// <param name="cancellationToken">Cancels the wait; the record may have been sent.</param>
    /// <returns>The new position, as <c>topic[partition]@offset</c>, and whether a deadline was cleared.</returns>
    /// <exception cref="InvalidOperationException">The dead letter cannot be replayed.</exception>
    /// <exception cref="KafkaException">The brokers did not accept the record.</exception>
    public async Task<(string Position, bool IsDeadlineCleared)> SendAsync(
        DeadLetter letter, bool keepDeadline, CancellationToken cancellationToken)
    {
        if (Refusal(letter) is { } refusal)
        {
            throw new InvalidOperationException($"The dead letter {letter.Id} is not replayed: {refusal}.");
        }
        var (value, isCleared) = keepDeadline ? (letter.Value, false) : WithoutDeadline(letter);
        var headers = new Headers();
        foreach (var (name, bytes) in letter.Headers.Where(h => h.Key != ReplayedFromHeader))
        {
            headers.Add(name, bytes);
        }
        headers.Add(ReplayedFromHeader, Encoding.UTF8.GetBytes(letter.Id.ToString()));
        var sent = await _producer.ProduceAsync(
            letter.Topic, new Message<byte[], byte[]> { Key = letter.Key!, Value = value!, Headers = headers },
            cancellationToken);
        return ($"{sent.Topic}[{sent.Partition.Value}]@{sent.Offset.Value}", isCleared);
    }

    /// <inheritdoc/>
    public void Dispose() => _producer.Dispose();

    private static (byte[]? Value, bool IsCleared) WithoutDeadline(DeadLetter letter)
    {
        if (letter.Topic == Topics.Events
            || !WireFormat.TryReadCommand(letter.Value, WireFormat.VersionBytes.Span, out var command, out _)
            || command!.DeadlineUnixUs == 0)
        {
            return (letter.Value, false);
        }
        command.DeadlineUnixUs = 0;
        return (command.ToByteArray(), true);
    }
}
