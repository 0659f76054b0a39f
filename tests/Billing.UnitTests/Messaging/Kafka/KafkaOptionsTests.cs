using Billing.Messaging.Kafka.Clients;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class KafkaOptionsTests
{
    [Theory]
    [InlineData("localhost:9092")]
    [InlineData("a:9092, b:9093,c:65535")]
    [InlineData("[::1]:9092")]
    public void Addresses_with_ports_are_valid(string servers) =>
        Assert.Empty(new KafkaOptions { BootstrapServers = servers }.ValidationErrors());

    [Theory]
    [InlineData("localhost", "'localhost'")]
    [InlineData(":9092", "':9092'")]
    [InlineData("localhost:", "'localhost:'")]
    [InlineData("localhost:0", "'localhost:0'")]
    [InlineData("localhost:65536", "'localhost:65536'")]
    [InlineData("a:9092,b", "'b'")]
    [InlineData(",", "','")]
    public void An_address_without_a_valid_port_is_reported(string servers, string named)
    {
        var problem = Assert.Single(new KafkaOptions { BootstrapServers = servers }.ValidationErrors());
        Assert.StartsWith("Billing:Kafka:BootstrapServers", problem, StringComparison.Ordinal);
        Assert.Contains(named, problem, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("proxy.1")]
    [InlineData("proxy 1")]
    public void A_name_of_a_proxy_that_would_break_its_topics_name_is_reported(string name) => Assert.Equal(
        $"Billing:Kafka:ProxyName: '{name}' must be at most 64 of the characters A-Z a-z 0-9 _ -.",
        Assert.Single(
            new KafkaOptions { BootstrapServers = "localhost:9092", ProxyName = name }.ValidationErrors()));

    [Theory]
    [InlineData(2, 6, true)]
    [InlineData(2.1, 6, false)]
    public void A_heartbeat_interval_is_at_most_a_third_of_the_session_timeout_also_where_properties_override_both(
        double heartbeatS, double sessionS, bool holds)
    {
        var (heartbeat, session) = (TimeSpan.FromSeconds(heartbeatS), TimeSpan.FromSeconds(sessionS));
        var settings = new KafkaOptions { HeartbeatInterval = heartbeat, SessionTimeout = session };
        var overridden = new KafkaOptions
        {
            Properties = { ["heartbeat.interval.ms"] = "2000", ["session.timeout.ms"] = holds ? "6000" : "5999" },
        };

        Assert.Equal(holds, Assert.Single(settings.Rules()).Holds);
        Assert.Equal(holds, Assert.Single(overridden.Rules()).Holds);
    }

    [Fact]
    public void A_member_that_was_replaced_waits_for_longer_than_its_session_until_it_reads_its_partition_again()
    {
        Assert.Equal(TimeSpan.FromSeconds(10), new KafkaOptions().FencedMax);
        Assert.Equal(
            TimeSpan.FromSeconds(49), new KafkaOptions { Properties = { ["session.timeout.ms"] = "45000" } }.FencedMax);
    }

    [Fact]
    public void Properties_of_librdkafka_override_the_settings()
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
    public void A_producer_without_batching_sends_at_once_regardless_of_requests_in_flight()
    {
        var producer = new KafkaOptions { BootstrapServers = "a:9092" }.Producer(
            "test", TimeSpan.FromSeconds(5), batches: false);
        Assert.Equal(0, producer.LingerMs);
        Assert.Equal(5, producer.MaxInFlight);
    }

    /// <summary>A proxy that has just started uses a newly added partition immediately.</summary>
    [Fact]
    public void A_backend_discovers_a_new_partition_before_its_callers_time_out() =>
        Assert.InRange(new KafkaOptions { BootstrapServers = "a:9092" }
            .GroupMember("test", "group").TopicMetadataRefreshIntervalMs!.Value, 1, 5000);

    [Fact]
    public void A_consumer_stores_no_offset_by_itself()
    {
        var member = new KafkaOptions { BootstrapServers = "a:9092" }.GroupMember("test", "group");
        Assert.False(member.EnableAutoOffsetStore);
        Assert.Equal(Confluent.Kafka.AutoOffsetReset.Earliest, member.AutoOffsetReset);
    }
}
