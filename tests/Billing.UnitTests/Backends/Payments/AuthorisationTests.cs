using System.Diagnostics;
using Billing.Backends.CardNetwork;
using Billing.Backends.Payments.InFlight;
using Billing.Hosting.Telemetry;
using Billing.UnitTests.Telemetry;
using Billing.UnitTests.Testing;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Backends.Payments;

/// <summary>Commands that the card network authorises.</summary>
[Collection(nameof(TracingTests))]
public sealed class AuthorisationTests : IDisposable
{
    private readonly List<string> _ended = [];
    private readonly ActivityListener _listener;

    public AuthorisationTests()
    {
        _listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == Tracing.SourceName,
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = span => _ended.Add(span.DisplayName),
        };
        ActivitySource.AddActivityListener(_listener);
    }

    public void Dispose() => _listener.Dispose();

    [Fact]
    public async Task The_span_of_a_call_of_the_card_network_ends_although_the_call_is_cancelled()
    {
        var network = new SimulatedCardNetwork(Options.Create(new JitterOptions { Enabled = true }), new ManualTime());
        using var stopping = new CancellationTokenSource();
        var caller = new ActivityContext(
            ActivityTraceId.CreateRandom(), ActivitySpanId.CreateRandom(), ActivityTraceFlags.Recorded, isRemote: true);
        var delivery = new RecordingDelivery(Samples.PaymentCommand())
        {
            Processing = Tracing.Start("process", ActivityKind.Consumer, caller),
        };
        var command = new PendingCommand(delivery, "visa/acct-42", 0);
        new Billing.Backends.Payments.Authorisation(network, Supervision.New()).Begin(
            command, _ => throw new InvalidOperationException("It is not authorised."), stopping.Token);

        await stopping.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => command.Turn);
        Assert.Equal(["card network"], _ended);
    }
}
