using System.Globalization;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Microsoft.Extensions.Hosting;

namespace Billing.UnitTests.Messaging.Embedded;

/// <summary>A handler that answers immediately and records the commands that it accepts.</summary>
internal sealed class RecordingHandler(IAnswerPublisher publisher) : ICommandHandler, IHostedService
{
    private readonly List<Command> _accepted = [];

    public int InFlight => 0;

    public IReadOnlyList<Command> Accepted => _accepted;

    public bool IsRunning { get; private set; }

    /// <summary>Each account that it got, with the partition that its process owns it under.</summary>
    public List<string> Owned { get; } = [];

    /// <summary>Ends the assignment of what it gets next, which it then abandons.</summary>
    public Action<PartitionAssignment>? Ends { get; set; }

    public void Accept(IReadOnlyList<Delivery> deliveries)
    {
        Assert.True(IsRunning);
        Assert.NotEmpty(deliveries);
        Owned.AddRange(deliveries.Select(d =>
            $"{CommandRoute.Of(d.Command).AccountId}: {d.Assignment.Partition.Topic} "
            + $"{d.Assignment.Partition.Number.ToString(CultureInfo.InvariantCulture)}"));
        if (Ends is { } end)
        {
            Ends = null;
            end(deliveries[0].Assignment);
            deliveries.ToList().ForEach(d => d.Abandon());
            return;
        }
        _accepted.AddRange(deliveries.Select(d => d.Command));
        _ = publisher.PublishAsync(
            [.. deliveries.Select(d => new Answer(d.Command.ProxyTopic, Reply(d.Command)))],
            [], CancellationToken.None);
    }

    public Task StartAsync(CancellationToken cancellationToken)
    {
        IsRunning = true;
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        IsRunning = false;
        return Task.CompletedTask;
    }

    private static Reply Reply(Command command) => command.RequestCase == Command.RequestOneofCase.Payment
        ? new Reply
        {
            CorrelationId = command.CorrelationId,
            Payment = new V1.MakePaymentResponse { Version = command.Payment.Amount.Units },
        }
        : new Reply { CorrelationId = command.CorrelationId, Balance = new V1.CheckBalanceResponse() };
}
