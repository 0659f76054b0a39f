using System.Globalization;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Proxy;
using Billing.Proxy.Calls;
using Billing.UnitTests.Proxy;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Allocations;

/// <summary>The memory that a proxy allocates per payment, from the caller's message to the command's record,
/// and from the reply's record to the answer, without the gRPC server and the Kafka client.</summary>
public sealed class ProxyAllocationTests
{
    // 15 % above the measured value of 3,650 bytes. If the measured value falls, lower this limit too.
    private const double Max = 4_200;

    private const int Payments = 64;
    private const int AnswersPerReply = 16;

    [Fact]
    public void A_payment_allocates_no_more_than_the_limit()
    {
        var thread = new SingleThreadContext();
        using var time = new SteadyTime(new ManualTime());
        using var caller = new CancellationTokenSource();
        using var producer = new AcknowledgingProducer();
        using var pair = new ProducerPair(producer);
        var lastId = 0UL;
        using var pending = new PendingReplies(time, () => ++lastId);
        var options = Options.Create(new ProxyOptions());
        using var admission = Admissions.With(options.Value);
        var service = new GrpcService(
            new RequestHandler(new CommandPublisher(pair, pending, Samples.ReplyTopic), admission, options, time),
            admission, options, time);
        var reader = new ReplyReader(pending, NullLogger.Instance);
        var rounds = Enumerable.Range(0, 130).Select(round => new Round(round, caller.Token)).ToList();

        var bytes = thread.BytesPerPayment(Payments, number =>
        {
            var round = rounds[number];
            thread.Run(() =>
            {
                for (var i = 0; i < Payments; i++)
                {
                    round.Answers[i] = service.MakePayment(
                        MakePaymentRequest.Parser.ParseFrom(round.Messages[i]), round.Calls[i]);
                }
            });
            foreach (var reply in round.Replies)
            {
                reader.Take(reply);
            }
        });

        Assert.All(rounds.Take(121).SelectMany(r => r.Answers), answer => Assert.True(answer.IsCompletedSuccessfully));
        Assert.Equal(121 * Payments, producer.Count);
        Assert.InRange(bytes, 1, Max);
    }

    /// <summary>The requests and replies of one round, and the answers to the callers.</summary>
    private sealed class Round
    {
        public Round(int number, CancellationToken cancellationToken)
        {
            var ids = Enumerable.Range(0, Payments).Select(_ => Guid.NewGuid().ToString()).ToList();
            Messages = [.. ids.Select((id, i) =>
            {
                var request = Samples.Payment(string.Create(CultureInfo.InvariantCulture, $"acct-{i}"));
                request.TransactionId = id;
                return request.ToByteArray();
            })];
            Calls = [.. ids.Select(_ => new StubCall(DateTime.MaxValue, cancellationToken))];
            Replies = [.. ids.Select((id, i) => new Reply
            {
                CorrelationId = (ulong)((number * Payments) + i + 1),
                Payment =
                    new MakePaymentResponse { TransactionId = id, Outcome = PaymentOutcome.Accepted, Version = 1 },
            }).Chunk(AnswersPerReply).Select(replies => new ReplyBatch { Replies = { replies } }.ToByteArray())];
        }

        public byte[][] Messages { get; }

        public StubCall[] Calls { get; }

        public byte[][] Replies { get; }

        public Task<MakePaymentResponse>[] Answers { get; } = new Task<MakePaymentResponse>[Payments];
    }
}
