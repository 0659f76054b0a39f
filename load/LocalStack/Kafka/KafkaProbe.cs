using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;

namespace Billing.LocalStack.Kafka;

/// <summary>
/// Asks a broker for the brokers that are serving, with a Metadata request of Kafka's protocol. This needs neither a client
/// library nor the logs, whose texts differ between distributions.
/// </summary>
internal static class KafkaProbe
{
    private const short Metadata = 3;
    private const short Version = 4;
    private const int LargestAnswer = 1024 * 1024;

    /// <summary>Returns the ids of the brokers that are serving according to one broker; none if it does not answer.</summary>
    public static async Task<IReadOnlyCollection<int>> ServingBrokersAsync(
        int port, CancellationToken cancellationToken)
    {
        using var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            await client.ConnectAsync(new IPEndPoint(IPAddress.Loopback, port), cancellationToken);
            var stream = new NetworkStream(client);
            await using (stream)
            {
                await stream.WriteAsync(Request(), cancellationToken);
                var size = new byte[sizeof(int)];
                await stream.ReadExactlyAsync(size, cancellationToken);
                var answer = new byte[Math.Clamp(BinaryPrimitives.ReadInt32BigEndian(size), 0, LargestAnswer)];
                await stream.ReadExactlyAsync(answer, cancellationToken);
                return BrokerIds(answer);
            }
        }
        catch (Exception exception) when (exception is SocketException or IOException)
        {
            return [];
        }
    }

    // Header: API key, version, correlation id, client id. Body: an empty list of topics, and no automatic creation of topics.
    private static byte[] Request()
    {
        var client = "billing"u8;
        var request = new byte[4 + 2 + 2 + 4 + 2 + client.Length + 4 + 1];
        BinaryPrimitives.WriteInt32BigEndian(request, request.Length - 4);
        BinaryPrimitives.WriteInt16BigEndian(request.AsSpan(4), Metadata);
        BinaryPrimitives.WriteInt16BigEndian(request.AsSpan(6), Version);
        BinaryPrimitives.WriteInt16BigEndian(request.AsSpan(12), (short)client.Length);
        client.CopyTo(request.AsSpan(14));
        return request;
    }

    // Correlation id, throttle time, then the brokers: id, host, port, rack.
    private static List<int> BrokerIds(ReadOnlySpan<byte> answer)
    {
        var ids = new List<int>();
        var count = BinaryPrimitives.ReadInt32BigEndian(answer[8..]);
        answer = answer[12..];
        for (var broker = 0; broker < count; broker++)
        {
            ids.Add(BinaryPrimitives.ReadInt32BigEndian(answer));
            answer = SkipString(answer[4..]);
            answer = SkipString(answer[4..]);
        }

        return ids;
    }

    private static ReadOnlySpan<byte> SkipString(ReadOnlySpan<byte> answer)
    {
        // A length of -1 stands for an absent string.
        var length = Math.Max((short)0, BinaryPrimitives.ReadInt16BigEndian(answer));
        return answer[(2 + length)..];
    }
}
