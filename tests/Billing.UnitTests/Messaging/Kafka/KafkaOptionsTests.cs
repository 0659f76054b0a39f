using Billing.Messaging.Kafka;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class KafkaOptionsTests
{
    [Theory]
    [InlineData("localhost:9092")]
    [InlineData("a:9092, b:9093,c:65535")]
    [InlineData("[::1]:9092")]
    public void Addresses_with_ports_are_fine(string servers) =>
        Assert.Empty(new KafkaOptions { BootstrapServers = servers }.Problems());

    [Theory]
    [InlineData("localhost", "'localhost'")]
    [InlineData(":9092", "':9092'")]
    [InlineData("localhost:", "'localhost:'")]
    [InlineData("localhost:0", "'localhost:0'")]
    [InlineData("localhost:65536", "'localhost:65536'")]
    [InlineData("a:9092,b", "'b'")]
    [InlineData(",", "','")]
    public void An_address_without_a_port_is_named(string servers, string named)
    {
        var problem = Assert.Single(new KafkaOptions { BootstrapServers = servers }.Problems());
        Assert.StartsWith("Billing:Kafka:BootstrapServers", problem, StringComparison.Ordinal);
        Assert.Contains(named, problem, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0, 6)]
    [InlineData(-1, 6)]
    [InlineData(2.1, 6)]
    public void A_heartbeat_is_at_most_a_third_of_the_session(double heartbeatS, double sessionS)
    {
        var options = new KafkaOptions
        {
            HeartbeatInterval = TimeSpan.FromSeconds(heartbeatS),
            SessionTimeout = TimeSpan.FromSeconds(sessionS),
        };
        var problem = Assert.Single(options.Problems());
        Assert.Contains("Billing:Kafka:HeartbeatInterval", problem, StringComparison.Ordinal);
        Assert.Contains("Billing:Kafka:SessionTimeout", problem, StringComparison.Ordinal);
    }

    [Fact]
    public void A_heartbeat_of_exactly_a_third_is_fine() =>
        Assert.Empty(new KafkaOptions { HeartbeatInterval = TimeSpan.FromSeconds(2), SessionTimeout = TimeSpan.FromSeconds(6) }.Problems());

    [Theory]
    [InlineData(-1)]
    [InlineData(1001)]
    public void The_linger_is_within_a_second(int milliseconds)
    {
        var problem = Assert.Single(new KafkaOptions { Linger = TimeSpan.FromMilliseconds(milliseconds) }.Problems());
        Assert.Contains("Billing:Kafka:Linger", problem, StringComparison.Ordinal);
    }

    [Fact]
    public void Properties_by_librdkafkas_names_win_over_the_settings()
    {
        var options = new KafkaOptions { BootstrapServers = "a:9092" };
        options.Properties["linger.ms"] = "7";
        options.Properties["session.timeout.ms"] = "9000";
        Assert.Equal("7", options.Producer("test", TimeSpan.FromSeconds(5)).Get("linger.ms"));
        Assert.Equal("9000", options.GroupMember("test", "group").Get("session.timeout.ms"));
    }

    [Fact]
    public void A_producer_counts_a_record_as_sent_when_all_replicas_have_it()
    {
        var producer = new KafkaOptions { BootstrapServers = "a:9092" }.Producer("test", TimeSpan.FromSeconds(5));
        Assert.Equal(Confluent.Kafka.Acks.All, producer.Acks);
        Assert.True(producer.EnableIdempotence);
        Assert.Equal(5000, producer.MessageTimeoutMs);
    }

    [Fact]
    public void A_producer_that_does_not_gather_sends_at_once_whatever_is_under_way()
    {
        var producer = new KafkaOptions { BootstrapServers = "a:9092" }.Producer("test", TimeSpan.FromSeconds(5), gathers: false);
        Assert.Equal(0, producer.LingerMs);
        Assert.Equal(5, producer.MaxInFlight);
    }

    /// <summary>A proxy that has just started uses a partition that was just added at once.</summary>
    [Fact]
    public void A_backend_notices_a_new_partition_while_its_callers_still_wait() =>
        Assert.InRange(new KafkaOptions { BootstrapServers = "a:9092" }.GroupMember("test", "group").TopicMetadataRefreshIntervalMs!.Value, 1, 5000);

    [Fact]
    public void A_consumer_stores_no_offset_by_itself()
    {
        var member = new KafkaOptions { BootstrapServers = "a:9092" }.GroupMember("test", "group");
        Assert.False(member.EnableAutoOffsetStore);
        Assert.Equal(Confluent.Kafka.AutoOffsetReset.Earliest, member.AutoOffsetReset);
    }
}
