using Billing.Contracts;
using Billing.Messaging;
using Billing.UnitTests.Testing;
using Billing.V1;

namespace Billing.UnitTests.Messaging;

public sealed class TopicsTests
{
    [Fact]
    public void The_reply_topic_of_any_proxy_is_recognised() =>
        Generate.AccountId.Holds(proxyId => Assert.True(Topics.IsReplyTopic(Topics.Replies(proxyId))));

    [Theory]
    [InlineData("")]
    [InlineData("billing.events")]
    [InlineData("billing.dead-letters")]
    [InlineData("billing.payments.visa")]
    [InlineData("billing.replies")]
    [InlineData("billing.replies.")]
    [InlineData("Billing.Replies.proxy")]
    [InlineData(" billing.replies.proxy")]
    [InlineData("billing.replies.proxy ")]
    [InlineData("billing.replies./etc")]
    [InlineData("billing.replies.a/../billing.events")]
    [InlineData("billing.replies.a\nb")]
    [InlineData("billing.replies.ä")]
    public void A_forged_reply_topic_is_not_recognised(string topic) => Assert.False(Topics.IsReplyTopic(topic));

    [Fact]
    public void A_reply_topic_has_no_more_characters_than_Kafka_allows()
    {
        Assert.True(Topics.IsReplyTopic(Topics.ReplyPrefix.PadRight(249, 'a')));
        Assert.False(Topics.IsReplyTopic(Topics.ReplyPrefix.PadRight(250, 'a')));
    }

    [Fact]
    public void No_shared_topic_can_be_mistaken_for_a_reply_topic()
    {
        string[] shared = [.. Topics.AllPayments, .. Topics.AllBalances, Topics.Events, Topics.DeadLetters];
        Assert.Equal(shared.Length, shared.Distinct(StringComparer.Ordinal).Count());
        Assert.DoesNotContain(shared, Topics.IsReplyTopic);
    }

    [Fact]
    public void Each_payment_type_has_its_own_two_topics()
    {
        Assert.Equal("billing.payments.mastercard", Topics.Payments(PaymentType.Mastercard));
        Assert.Equal("billing.balances.amex", Topics.Balances(PaymentType.Amex));
        Assert.Equal(PaymentTypes.All.Select(Topics.Payments), Topics.AllPayments);
        Assert.Equal(PaymentTypes.All.Select(Topics.Balances), Topics.AllBalances);
    }

    [Theory]
    [InlineData(PaymentType.Unspecified)]
    [InlineData((PaymentType)99)]
    public void An_unknown_payment_type_has_no_topic(PaymentType type)
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => Topics.Payments(type));
        Assert.Throws<ArgumentOutOfRangeException>(() => Topics.Balances(type));
    }
}
