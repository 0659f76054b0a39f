using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Google.Protobuf;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.UnitTests.Messaging;

public sealed class WireEventTests
{
    private static readonly Event Sample = new()
    {
        StreamId = "visa/acct-42",
        Version = 3,
        TransactionId = Samples.TransactionId,
        Balance = Samples.Dollars(10),
        PaymentAccepted = new PaymentAccepted { Amount = Samples.Dollars(10) },
    };

    [Fact]
    public void An_event_is_read()
    {
        Assert.True(WireFormat.TryReadEvent(Sample.ToByteArray(), "1"u8, out var recorded, out var refusal));
        Assert.Equal(Sample, recorded);
        Assert.Null(refusal);
    }

    /// <summary>Field 1000 with the value 1, as a newer release may write it: of the event, of its fact,
    /// and of an amount in that.</summary>
    [Fact]
    public void An_event_with_a_member_that_this_release_does_not_know_is_not_wholly_known()
    {
        byte[] newer = [0xC0, 0x3E, 0x01];
        var fact = Sample.Clone();
        fact.PaymentAccepted = PaymentAccepted.Parser.ParseFrom([.. Sample.PaymentAccepted.ToByteArray(), .. newer]);
        var amount = Sample.Clone();
        amount.PaymentAccepted.Amount = V1.Money.Parser.ParseFrom([.. Sample.Balance.ToByteArray(), .. newer]);

        Assert.True(IsWhole(Sample.ToByteArray()));
        Assert.All(
            (byte[][])[[.. Sample.ToByteArray(), .. newer], fact.ToByteArray(), amount.ToByteArray()],
            value => Assert.False(IsWhole(value)));

        static bool IsWhole(byte[] value)
        {
            Assert.True(WireFormat.TryReadEvent(value, "1"u8, out var recorded, out _));
            return WireFormat.IsWhole(recorded, value);
        }
    }

    [Theory]
    [InlineData("")]
    [InlineData("2")]
    public void Another_wire_version_is_refused(string version)
    {
        Assert.False(WireFormat.TryReadEvent(
            Sample.ToByteArray(), System.Text.Encoding.ASCII.GetBytes(version), out var recorded, out var refusal));
        Assert.Null(recorded);
        Assert.Contains(WireFormat.VersionHeader, refusal, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("", 1, Samples.TransactionId, true, "stream_id")]
    [InlineData("visa/a", 0, Samples.TransactionId, true, "version")]
    [InlineData("visa/a", -1, Samples.TransactionId, true, "version")]
    [InlineData("visa/a", 1, "", true, "transaction_id")]
    [InlineData("visa/a", 1, "x", true, "transaction_id")]
    [InlineData("visa/a", 1, Samples.TransactionId, false, "balance")]
    public void An_event_that_lacks_what_every_event_has_is_refused(
        string stream, long version, string transactionId, bool hasBalance, string named)
    {
        var lacking = Sample.Clone();
        (lacking.StreamId, lacking.Version, lacking.TransactionId) = (stream, version, transactionId);
        lacking.Balance = hasBalance ? lacking.Balance : null;

        Assert.False(WireFormat.TryReadEvent(lacking.ToByteArray(), "1"u8, out _, out var refusal));
        Assert.Contains(named, refusal, StringComparison.Ordinal);
    }
}
