using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class ProxyIdTests
{
    [Fact]
    public void The_start_time_can_be_read_from_the_reply_topic()
    {
        var time = new ManualTime();
        time.Advance(TimeSpan.FromDays(29) + TimeSpan.FromSeconds(7));
        Assert.True(ProxyId.TryReadStart(Topics.Replies(ProxyId.Create(time)), out var start));
        Assert.Equal(time.GetUtcNow(), start);
        Assert.Equal(TimeSpan.Zero, start.Offset);
    }

    [Fact]
    public void An_id_gives_a_valid_reply_topic()
    {
        var topic = Topics.Replies(ProxyId.Create(new ManualTime()));
        Assert.True(Topics.IsReplyTopic(topic));
        Assert.Matches("^billing\\.replies\\.20260131T120000Z-[0-9a-f]{8}$", topic);
    }

    [Fact]
    public void Ids_created_in_the_same_second_differ()
    {
        var time = new ManualTime();
        Assert.NotEqual(ProxyId.Create(time), ProxyId.Create(time));
    }

    [Theory]
    [InlineData("")]
    [InlineData("billing.events")]
    [InlineData("billing.replies.")]
    [InlineData("billing.replies.embedded")]
    [InlineData("billing.replies.-5f2c9a10")]
    [InlineData("billing.replies.20261331T120000Z-5f2c9a10")]
    [InlineData("billing.replies.2026-5f2c9a10")]
    [InlineData("20260131T120000Z-5f2c9a10")]
    public void Other_topics_have_no_start_time(string topic) => Assert.False(ProxyId.TryReadStart(topic, out _));
}
