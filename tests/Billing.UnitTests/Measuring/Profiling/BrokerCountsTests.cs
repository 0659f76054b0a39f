using Billing.Measuring.Profiling;

namespace Billing.UnitTests.Measuring.Profiling;

public sealed class BrokerCountsTests
{
    private static readonly string[] Before =
    [
        "Trying to connect to JMX url: service:jmx:rmi:///jndi/rmi://127.0.0.1:1/jmxrmi",
        "time=1795396506247",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Produce,version=11:Count=10",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Produce,version=12:Count=5",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Fetch,version=16:Count=100",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=FetchConsumer,version=16:Count=90",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Metadata,version=12:Count=7",
        "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec:Count=999",
        "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=billing.events:Count=50",
        "kafka.server:type=BrokerTopicMetrics,name=TotalProduceRequestsPerSec,topic=billing.events:Count=10",
    ];

    private static readonly string[] After =
    [
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Produce,version=11:Count=10",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Produce,version=12:Count=105",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Fetch,version=16:Count=400",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=FetchConsumer,version=16:Count=290",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=FetchFollower,version=16:Count=20",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Metadata,version=12:Count=7",
        "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=billing.events:Count=1050",
        "kafka.server:type=BrokerTopicMetrics,name=TotalProduceRequestsPerSec,topic=billing.events:Count=60",
        "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=billing.events:Count=200000",
        "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=billing.replies.20260101T000000Z-0123abcd:Count=30",
        "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=billing.replies.20260101T000000Z-4567abcd:Count=40",
        "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=__consumer_offsets:Count=8",
    ];

    private readonly BrokerCounts _counts = BrokerCounts.Parse(After).Since(BrokerCounts.Parse(Before)).Per(100);

    [Fact]
    public void Request_versions_are_added_up_fetches_count_once_and_unused_requests_are_left_out() => Assert.Equal(
        new Dictionary<string, double> { ["FetchConsumer"] = 2, ["FetchFollower"] = 0.2, ["Produce"] = 1 }, _counts.Requests);

    [Fact]
    public void A_topic_has_its_records_and_the_average_batch_size()
    {
        Assert.Equal(new TopicCounts(10, 0.5, 2000), _counts.Topics["billing.events"]);
        Assert.Equal(20, _counts.Topics["billing.events"].RecordsInBatch);
    }

    [Fact]
    public void Reply_topics_are_added_up() => Assert.Equal(0.7, _counts.Topics["billing.replies.{proxy}"].Records, 9);

    [Fact]
    public void The_brokers_own_topics_have_no_batch_size() => Assert.Null(_counts.Topics["__consumer_offsets"].RecordsInBatch);
}
