using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class ProxyIdTests
{
    [Theory]
    [InlineData("")]
    [InlineData("proxy-1")]
    public void The_start_time_can_be_read_from_the_reply_topic(string name)
    {
        var time = new ManualTime();
        time.Advance(TimeSpan.FromDays(29) + TimeSpan.FromSeconds(7));
        Assert.True(ProxyId.TryReadStart(ProxyId.ReplyTopic(name, ProxyId.Create(time)), name, out var start));
        Assert.Equal(time.GetUtcNow(), start);
        Assert.Equal(TimeSpan.Zero, start.Offset);
    }

    [Theory]
    [InlineData("", "one")]
    [InlineData("one", "")]
    [InlineData("proxy-1", "proxy-10")]
    [InlineData("proxy-10", "proxy-1")]
    [InlineData("20260131T120000Z-5f2c9a10", "")]
    public void The_start_time_of_another_proxys_topic_is_not_read(string name, string other) =>
        Assert.False(ProxyId.TryReadStart(ProxyId.ReplyTopic(name, ProxyId.Create(new ManualTime())), other, out _));

    [Theory]
    [InlineData("", "")]
    [InlineData("proxy-1", "proxy-1\\.")]
    public void An_id_gives_a_valid_reply_topic(string name, string beginning)
    {
        var topic = ProxyId.ReplyTopic(name, ProxyId.Create(new ManualTime()));
        Assert.True(Topics.IsReplyTopic(topic));
        Assert.Matches($"^billing\\.replies\\.{beginning}20260131T120000Z-[0-9a-f]{{8}}$", topic);
    }

    [Fact]
    public void The_longest_name_gives_a_valid_reply_topic()
    {
        var name = new string('a', ProxyId.NameLengthMax);
        Assert.True(ProxyId.IsName(name));
        Assert.True(Topics.IsReplyTopic(ProxyId.ReplyTopic(name, ProxyId.Create(new ManualTime()))));
    }

    [Theory]
    [InlineData("")]
    [InlineData("a.b")]
    [InlineData("a b")]
    [InlineData("\u00e4")]
    [InlineData("12345678901234567890123456789012345678901234567890123456789012345")]
    public void A_text_with_other_characters_or_too_many_is_no_name(string text) => Assert.False(ProxyId.IsName(text));

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
    [InlineData("billing.replies.20260131T120000Z-5f2c9a10.20260131T120000Z-5f2c9a10")]
    [InlineData("20260131T120000Z-5f2c9a10")]
    public void Other_topics_have_no_start_time(string topic) => Assert.False(ProxyId.TryReadStart(topic, "", out _));
}
