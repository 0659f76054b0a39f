using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;

namespace Billing.UnitTests.Messaging.Kafka;

/// <summary>Tests requests to brokers that the client drops itself.</summary>
public class KafkaClientsTests
{
    [Fact]
    public async Task A_request_is_sent_again_while_the_client_gives_up_the_address_that_it_was_sent_to()
    {
        var given = new Queue<Error>([new(ErrorCode.Local_DestroyBroker), new(ErrorCode.Local_DestroyBroker)]);

        await KafkaClients.InsistAsync(
            () => given.TryDequeue(out var error) ? throw new KafkaException(error) : Task.CompletedTask,
            TimeSpan.FromDays(1));

        Assert.Empty(given);
    }

    // What services printed when the client dropped the request that creates the topics.
    [Fact]
    public void The_client_says_so_in_these_words() =>
        Assert.Equal(
            "Local: Broker handle destroyed without termination", new Error(ErrorCode.Local_DestroyBroker).Reason);

    [Theory]
    [InlineData(ErrorCode.Local_TimedOut, 1)]
    [InlineData(ErrorCode.Local_DestroyBroker, 0)]
    [InlineData(ErrorCode.TopicAuthorizationFailed, 1)]
    public async Task Other_failures_and_those_after_the_time_are_the_caller_s(ErrorCode code, int patienceDays)
    {
        var sent = 0;

        var failure = await Assert.ThrowsAsync<KafkaException>(() => KafkaClients.InsistAsync(
            () =>
            {
                sent++;
                throw new KafkaException(code);
            },
            TimeSpan.FromDays(patienceDays)));

        Assert.Equal((code, 1), (failure.Error.Code, sent));
    }
}
