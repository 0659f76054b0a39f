using Billing.Messaging.Kafka.Clients;
using Billing.Wire.V1;
using Google.Protobuf;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>Completes the waiting calls with the replies in the records of a reply topic.</summary>
internal sealed class ReplyReader(PendingReplies pending, ILogger logger)
{
    /// <summary>Processes a record's value; null and empty values are heartbeats.</summary>
    public void Take(byte[]? value)
    {
        try
        {
            foreach (var reply in ReplyBatch.Parser.ParseFrom(value ?? []).Replies)
            {
                if (pending.MatchesCall(reply))
                {
                    pending.Complete(reply);
                }
                else
                {
                    KafkaLog.ForgedReply(logger);
                }
            }
        }
        catch (InvalidProtocolBufferException e)
        {
            KafkaLog.BadReply(logger, e.Message);
        }
    }
}
