using System.Net;
using System.Net.Sockets;
using System.Text;
using Billing.Webhooks;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Hostile events for receivers, and hostile answers of a receiver, which somebody else runs.</summary>
public sealed class WebhookFuzz
{
    private const string Body = "{\"version\":1}";

    private static readonly string[] Reasons = ["timeout", "address", "tls", "connection"];

    private static readonly string[] Words =
    [
        "HTTP/1.1 ", "HTTP/1.0 ", "HTTP/2.0 ", " OK", "\r\n", "\r\n\r\n", "\n", "\0", "\x1b[2J", "\u00c2\u009b31m",
        ": ", "Retry-After: ", "Content-Length: ", "Transfer-Encoding: chunked\r\n",
        "Location: http://127.0.0.1:1/", "Set-Cookie: a=b", "Content-Encoding: gzip", "Connection: Upgrade", "100",
        "101", "200", "410", "429", "503", "99999999999", "-1", "ffffffffffffffff",
        "Sat, 28 Nov 9999 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT",
    ];

    private static readonly byte[][] Answers =
    [
        .. new[]
        {
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.0 500 Internal Server Error\r\n\r\n", "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: Sat, 28 Nov 2026 10:00:00 "
                + "GMT\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\n\r\n",
        }.Select(Encoding.Latin1.GetBytes),
    ];

    [Fact]
    public async Task A_receivers_answer_takes_the_event_or_is_a_failure_whose_text_can_be_stored_and_shown()
    {
        using var listener = new Socket(SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        var receiver = new ReceiverOptions
        {
            Url = $"http://127.0.0.1:{((IPEndPoint)listener.LocalEndPoint!).Port}/events",
            Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        };
        var options = new WebhookOptions { AllowedNetworks = "127.0.0.0/8", Timeout = TimeSpan.FromMinutes(5) };
        await new Fuzz("webhooks", Answers, Words, tries: 1_000).RunAsync(async input =>
        {
            using var client = new ReceiverClient(receiver, options, TimeProvider.System);
            var answering = AnswerAsync(listener, input);
            var failure = await client.SendAsync("visa/a@1", Body);
            // The connection ends with it.
            client.Dispose();
            await answering;
            if (failure is null)
            {
                return "taken";
            }
            Assert.True(
                Reasons.Contains(failure.Reason)
                    || (failure.Reason.Length == 3 && failure.Reason.All(char.IsAsciiDigit)),
                failure.Reason);
            Assert.DoesNotContain(failure.Text, char.IsControl);
            Assert.InRange(failure.Text.Length, 1, 1_000);
            return $"{failure.Reason} {failure.RetryAfter is not null} {failure.IsGone}";
        });
    }

    [Fact]
    public void An_event_of_the_topic_has_a_body_or_is_skipped()
    {
        new Fuzz("webhook-events", Corpus.Events, Corpus.Words, tries: 10_000).Run(input =>
        {
            Event recorded;
            try
            {
                recorded = Event.Parser.ParseFrom(input);
            }
            catch (InvalidProtocolBufferException)
            {
                return "no event";
            }
            if (!EventBody.IsOfAccount(recorded) || EventBody.KindOf(recorded) is not { } kind)
            {
                return "skipped";
            }
            Assert.DoesNotContain(EventBody.Of(recorded), char.IsControl);
            return kind;
        });
    }

    private static async Task AnswerAsync(Socket listener, byte[] answer)
    {
        using var connection = await listener.AcceptAsync();
        var buffer = new byte[8_192];
        try
        {
            for (int length = 0, read = 1; read > 0
                && !Encoding.ASCII.GetString(buffer, 0, length)
                    .EndsWith(Body, StringComparison.Ordinal); length += read)
            {
                read = await connection.ReceiveAsync(buffer.AsMemory(length));
            }
            await connection.SendAsync(answer);
            connection.Shutdown(SocketShutdown.Send);
            while (await connection.ReceiveAsync(buffer) > 0)
            {
            }
        }
        catch (SocketException)
        {
            // The client may end the connection before it has read all of the answer.
        }
    }
}
