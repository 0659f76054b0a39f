using System.Buffers;
using System.Text;
using Billing.Driver.Channels;

namespace Billing.UnitTests.Driver;

public sealed class HttpAnswerTests
{
    private const string Accepted =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 22\r\n\r\n{\"outcome\":\"ACCEPTED\"}";
    private const string Declined =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n16\r\n{\"outcome\":\"DECLINED\"}\r\n0\r\n\r\n";
    private const string Refused = "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\nRetry-After: 1\r\n\r\n";

    [Fact]
    public void Pipelined_answers_are_read_one_by_one_wherever_the_bytes_are_split()
    {
        var bytes = Encoding.ASCII.GetBytes(Accepted + Declined + Refused);
        for (var split = 0; split <= bytes.Length; split++)
        {
            var buffer = new ReadOnlySequence<byte>(bytes, 0, split);
            var answers = Read(ref buffer);
            buffer = new ReadOnlySequence<byte>(
                bytes, split - (int)buffer.Length, bytes.Length - split + (int)buffer.Length);
            answers.AddRange(Read(ref buffer));

            Assert.Equal(
                [(200, "{\"outcome\":\"ACCEPTED\"}"), (200, "{\"outcome\":\"DECLINED\"}"), (429, "")],
                answers.Select(answer => (answer.Status, Encoding.ASCII.GetString(answer.Body))));
            Assert.True(buffer.IsEmpty);
        }
    }

    [Theory]
    [InlineData("SSH-2.0-OpenSSH_9.2\r\n\r\n")]
    [InlineData("HTTP/1.1 200 OK\r\n\r\n")]
    [InlineData("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n")]
    [InlineData("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")]
    public void An_answer_that_is_not_HTTP_or_has_no_length_is_refused(string text) =>
        Assert.Throws<InvalidDataException>(() =>
        {
            var buffer = new ReadOnlySequence<byte>(Encoding.ASCII.GetBytes(text));
            HttpAnswer.TryRead(ref buffer, out _);
        });

    private static List<HttpAnswer> Read(ref ReadOnlySequence<byte> buffer)
    {
        var answers = new List<HttpAnswer>();
        while (HttpAnswer.TryRead(ref buffer, out var answer))
        {
            answers.Add(answer);
        }
        return answers;
    }
}
