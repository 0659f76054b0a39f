using System.Collections.Concurrent;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.UnitTests.Proxy;

/// <summary>A fake backend of a proxy: keeps every command and answers as configured.</summary>
internal sealed class FakeBackend : IRequestTransport
{
    private readonly ConcurrentQueue<Command> _commands = new();
    private int _inFlight;
    private int _inFlightMax;

    public TransportDescription Description { get; } = new("test", "Nothing.", StoresCommands: false, TimesSteps: true);

    /// <summary>The function that answers a command; by default it accepts the payment.</summary>
    public Func<Command, Task<Reply>> Answer { get; set; } = command => Task.FromResult(Accepted(command));

    public IReadOnlyCollection<Command> Commands => _commands;

    /// <summary>The greatest number of commands in flight at the same time.</summary>
    public int InFlightMax => Volatile.Read(ref _inFlightMax);

    /// <summary>The number of commands in flight.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    public static Reply Accepted(Command command) => new()
    {
        Payment = new MakePaymentResponse { TransactionId = command.TransactionId, Outcome = PaymentOutcome.Accepted, Version = 1 },
    };

    public async Task<Reply> SendAsync(Request request, Action? stored = null)
    {
        var command = request.ToCommand();
        var now = Interlocked.Increment(ref _inFlight);
        int max;
        while (now > (max = InFlightMax) && Interlocked.CompareExchange(ref _inFlightMax, now, max) != max)
        {
        }
        _commands.Enqueue(command);
        try
        {
            return await Answer(command);
        }
        finally
        {
            Interlocked.Decrement(ref _inFlight);
        }
    }
}
