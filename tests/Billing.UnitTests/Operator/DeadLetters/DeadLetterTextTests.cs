using System.Text;
using Billing.Hosting;
using Billing.Operator.DeadLetters;

namespace Billing.UnitTests.Operator.DeadLetters;

public sealed class LetterTextTests
{
    [Fact]
    public void Bytes_are_shown_as_text_only_if_they_are_printable()
    {
        Assert.Equal("none", DeadLetterText.OfBytes(null));
        Assert.Equal("acct-42", DeadLetterText.OfBytes("acct-42"u8.ToArray()));
        Assert.Equal("0x1b5b324a", DeadLetterText.OfBytes("\u001b[2J"u8.ToArray()));
        Assert.Equal("0xff", DeadLetterText.OfBytes([0xff]));
        Assert.Equal(".[2J", UntrustedText.Printable("\u001b[2J"));
        Assert.Equal("ab\ufffd...", UntrustedText.Printable("ab\ud83d\ude00", lengthMax: 3));
    }

    [Fact]
    public void A_dump_shows_offsets_bytes_and_text()
    {
        var lines = DeadLetterText.Dump(Encoding.ASCII.GetBytes("not a command at all\n")).ToList();
        Assert.Equal(
            [
                "00000000  6e 6f 74 20 61 20 63 6f  6d 6d 61 6e 64 20 61 74  |not a command at|",
                "00000010  20 61 6c 6c 0a                                    | all.|",
            ],
            lines);
    }

    [Fact]
    public void A_long_dump_ends_with_the_number_of_bytes_left_out() =>
        Assert.StartsWith(
            "... and 952 more bytes", DeadLetterText.Dump(new byte[3000]).Last(), StringComparison.Ordinal);
}
