using Billing.Messaging.Kafka.DeadLetters;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class DeadLetterIdTests
{
    [Theory]
    [InlineData("0", 0, 0)]
    [InlineData("42", 0, 42)]
    [InlineData("3:42", 3, 42)]
    public void An_id_is_an_offset_or_a_partition_and_an_offset(string text, int partition, long offset)
    {
        Assert.True(DeadLetterId.TryParse(text, out var id));
        Assert.Equal(new DeadLetterId(partition, offset), id);
        Assert.Equal(text, id.ToString());
    }

    [Theory]
    [InlineData("")]
    [InlineData(":")]
    [InlineData("x")]
    [InlineData("-1")]
    [InlineData("1:")]
    [InlineData(":1")]
    [InlineData("1:2:3")]
    [InlineData("99999999999999999999")]
    public void Other_texts_are_not_ids(string text) => Assert.False(DeadLetterId.TryParse(text, out _));
}
