using System.Text;
using Billing.Driver;
using Billing.Rehearsal.Listening;
using Billing.Rehearsal.Machines;
using Google.Protobuf;

namespace Billing.DeploymentTests.Rehearsal;

/// <summary>What is read out of packets, without a network.</summary>
public sealed class ListeningTests
{
    private const string Text = "pay acct-17 now";
    private const byte Handshake = 22;
    private const byte Data = 23;

    private static readonly byte[] Hello = Segments.Record(Handshake, 300);

    [Fact]
    public void A_needle_is_found_once_wherever_it_is_cut_into_packets() => Assert.All(
        from first in Enumerable.Range(1, Text.Length - 2)
        from second in Enumerable.Range(first + 1, Text.Length - first - 1)
        select (first, second),
        cut =>
        {
            var heard = new Segments().Open()
                .Send(0, Text[..cut.first]).Send(cut.first, Text[cut.first..cut.second])
                .Send(cut.second, Text[cut.second..]).Judge();

            Assert.Equal(1, Found(heard, "an account"));
            Assert.Equal(Text.Length, heard.Bytes);
        });

    [Fact]
    public void Packets_that_overtake_or_repeat_others_change_nothing()
    {
        var heard = new Segments().Open()
            .Send(6, Text[6..]).Send(0, Text[..3]).Send(0, Text[..6]).Send(2, Text[2..9]).Send(0, Text).Judge();

        Assert.Equal(1, Found(heard, "an account"));
        Assert.Equal((Text.Length, 0L), ((int)heard.Bytes, Assert.Single(heard.Links).UnreadBytes));
    }

    [Fact]
    public void Another_connection_with_the_same_ports_is_read_from_its_beginning()
    {
        var heard = new Segments().Open().Send(0, Text).Open().Send(0, Text).Judge();

        Assert.Equal(2, Found(heard, "an account"));
    }

    [Fact]
    public void Each_needle_is_found_by_its_form_and_not_if_one_character_of_it_differs() =>
        Assert.All(SecretTexts.ByForm(), needle =>
        {
            var text = needle.Text + needle.Form.Replace('9', '4').Replace('x', 'c').Replace('b', 'Z');

            Assert.Equal(1, Found(new Segments().Open().Send(0, $"<{text}>").Judge(), needle.Name));
            Assert.All(Enumerable.Range(0, text.Length), index =>
            {
                var other = $"{text[..index]}!{text[(index + 1)..]}";
                Assert.Equal(0, Found(new Segments().Open().Send(0, $"<{other}>").Judge(), needle.Name));
            });
        });

    [Fact]
    public void A_payment_is_recognised_in_protobuf_and_in_JSON()
    {
        var payment = new RandomRequests(100, new Random(1)).Payment();

        var heard = new Segments().Open()
            .Send(0, payment.ToByteArray()).Send(payment.CalculateSize(), JsonFormatter.Default.Format(payment))
            .Judge();

        Assert.Equal(
            (2, 2, 2), (Found(heard, "an account"), Found(heard, "an amount"), Found(heard, "a transaction id")));
    }

    [Fact]
    public void Logins_and_tokens_are_recognised_as_programs_send_them()
    {
        const string Head = """{"alg":"ES256","typ":"JWT","kid":"1"}""";
        var token = Convert.ToBase64String(Encoding.ASCII.GetBytes(Head)).TrimEnd('=') + ".eyJpc3MiOiJh.AAAA";
        string[] sent =
        [
            "\0\0\0R\0\u0003\0\0user\0billing_backend\0database\0billing\0\0", "R\0\0\0Yr=abcd,s=c2FsdA==,i=4096",
            "p\0\0\0Pc=biws,r=abcd,p=cHJvb2Y=", "GET / HTTP/1.1\r\nauthorization: Bearer " + token,
            "GET / HTTP/1.1\r\nAuthorization: Basic cGF0cm9uaTp4", "-----BEGIN EC PRIVATE KEY-----",
        ];

        var heard = new Segments().Open().Send(0, string.Concat(sent)).Judge();

        Assert.Equal(
            new Dictionary<string, long>
            {
                ["a login at a database"] = 1,
                ["a login by SCRAM"] = 2,
                ["a header with credentials"] = 2,
                ["a token"] = 1,
                ["a private key"] = 1,
            },
            Assert.Single(heard.Links).Found);
    }

    [Fact]
    public void Records_of_TLS_are_followed_wherever_packets_cut_them()
    {
        byte[] stream =
            [.. Hello, .. Segments.Record(20, 1), .. Segments.Record(Data, 9000), .. Segments.Record(Data, 0)];
        var segments = new Segments().Open();
        for (var at = 0; at < stream.Length; at += 7)
        {
            segments.Send(at, stream.AsSpan(at, Math.Min(7, stream.Length - at)));
        }

        var link = Assert.Single(segments.Judge().Links);

        Assert.Equal((stream.Length, 100, 0), (link.Bytes, link.TlsPercent, link.ClearBytes));
    }

    [Fact]
    public void What_is_in_clear_behind_a_record_is_a_finding()
    {
        var heard = new Segments().Open().Send(0, Hello).Send(Hello.Length, "now in clear").Judge();

        Assert.Equal([$"client to proxy at 9092: 12 of {heard.Bytes} bytes are not encrypted"], heard.Amiss);
    }

    [Theory]
    [InlineData("GET / HTTP/1.1")]
    [InlineData("\u0017\u0003\u0003\0\u0001x")]
    [InlineData("\u0016\u0002\0\0\u0001x")]
    [InlineData("\u0016\u0003\u0003\u00ff\u00ffx")]
    [InlineData("S")]
    public void A_connection_that_begins_otherwise_than_with_a_handshake_is_a_finding(string text)
    {
        var heard = new Segments().Open().Send(0, text + "\0\0\0\0\0\0\0\0").Judge();

        Assert.EndsWith("bytes are not encrypted", Assert.Single(heard.Amiss), StringComparison.Ordinal);
    }

    [Fact]
    public void PostgreSQLs_request_for_encryption_and_its_answer_count_as_TLS()
    {
        byte[] request = [0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f];

        var heard = new Segments(5432).Open()
            .Send(0, request).Answer([(byte)'S', .. Hello]).Send(request.Length, Hello).Judge();

        Assert.Empty(heard.Amiss);
        Assert.Equal(100, Assert.Single(heard.Links).TlsPercent);
    }

    [Fact]
    public void A_database_that_declines_encryption_is_a_finding()
    {
        byte[] request = [0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f];

        var heard = new Segments(5432).Open()
            .Send(0, request).Answer("N"u8).Send(request.Length, "\0\0\0\u0009\0\u0003\0\0\0").Judge();

        Assert.EndsWith("bytes are not encrypted", Assert.Single(heard.Amiss), StringComparison.Ordinal);
    }

    [Fact]
    public void Bytes_that_were_not_seen_are_counted_and_never_taken_for_clear_text()
    {
        var record = Segments.Record(Data, 10_000);
        var heard = new Segments().Open()
            .Send(0, Hello)
            // The end of a record is missed, and then a header.
            .Send(Hello.Length, record.AsSpan(0, 4000)).Send(Hello.Length + 6000, record.AsSpan(6000))
            .Send(Hello.Length + record.Length + 3, record.AsSpan(3)).Send(Hello.Length + (2 * record.Length), record)
            .Judge(dropped: 2);

        var link = Assert.Single(heard.Links);
        Assert.Equal((0, 2003 + record.Length - 3), (link.ClearBytes, link.UnreadBytes));
        Assert.Equal(Hello.Length + (3 * record.Length), link.Bytes);
        Assert.StartsWith(
            "the eavesdropper could not read ", Assert.Single(heard.Amiss), StringComparison.Ordinal);
        Assert.EndsWith("the kernel dropped 2 of its 12 packets", heard.Amiss[0], StringComparison.Ordinal);
    }

    [Fact]
    public void At_a_port_in_clear_only_needles_are_findings()
    {
        Assert.Empty(new Segments(9100).Open().Send(0, "node_load1 0.5").Judge().Amiss);
        Assert.Equal(
            ["client to proxy at 9100: an eavesdropper reads an account, 1 times"],
            new Segments(9100).Open().Send(0, Text).Judge().Amiss);
    }

    [Fact]
    public void A_datagram_is_a_finding_even_with_the_number_of_a_port_in_clear() => Assert.Equal(
        [
            "client to proxy at udp 9100: an eavesdropper reads an account, 1 times",
            $"client to proxy at udp 9100: {Text.Length} of {Text.Length} bytes are not encrypted",
        ],
        new Segments(9100).SendAlone(Text).Judge().Amiss);

    [Fact]
    public void A_port_in_clear_where_all_is_encrypted_has_to_leave_the_list() => Assert.Equal(
        ["9100 is one of ClearPorts, but everything there was encrypted: remove it"],
        new Segments(9100).Open().Send(0, Hello).Judge().Amiss);

    [Fact]
    public void Each_port_in_clear_is_one_of_the_platforms()
    {
        var ports = Deployed.Topology().Rules.Select(rule => rule.Port).ToHashSet();

        Assert.All(ClearPorts.All, port => Assert.True(ports.Contains(port.Key) && port.Value.Length > 0, $"{port}"));
    }

    [Fact]
    public void Silence_is_a_finding_and_silent_links_are_named()
    {
        var silence = new Segments().Judge();

        Assert.Equal(["the eavesdropper heard nothing"], silence.Amiss);
        Assert.Equal(["client to proxy at 9092"], silence.Silent);
        Assert.Empty(new Segments().Open().Send(0, Hello).Judge().Silent);
    }

    [Fact]
    public void An_end_before_the_end_is_a_finding() => Assert.Contains(
        "the eavesdropper stopped listening: no memory",
        new Overheard(new Dictionary<Link, Traffic>(), 0, 0, "no memory")
            .Judge(new Topology([], [], new Dictionary<string, string>())).Amiss);

    private static long Found(ListeningFindings heard, string needle) =>
        Assert.Single(heard.Links).Found.GetValueOrDefault(needle);
}
