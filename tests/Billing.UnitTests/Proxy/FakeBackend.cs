using System.Collections.Concurrent;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.UnitTests.Proxy;

/// <summary>A fake backend of a proxy: keeps every command and answers as configured.</summary>
internal sealed class FakeBackend(bool storesCommands = false) : IRequestTransport
{
    private readonly ConcurrentQueue<Command> _commands = new();
    private readonly ConcurrentQueue<Request> _requests = new();
    private int _inFlight;
    private int _inFlightMax;

    public TransportDescription Description { get; } = new(
        "test", "Nothing.", StoresCommands: storesCommands, TimesSteps: true);

    /// <summary>The function that answers a command; by default it accepts the payment.</summary>
    public Func<Command, Task<Reply>> Answer { get; set; } = command => Task.FromResult(Accepted(command));

    public IReadOnlyCollection<Command> Commands => _commands;

    /// <summary>What the commands were written from.</summary>
    public IReadOnlyCollection<Request> Requests => _requests;

    /// <summary>The partition that stores commands; null if they cannot be stored.</summary>
    public int? Partition { get; set; } = storesCommands ? 0 : null;

    /// <summary>The greatest number of commands in flight at the same time.</summary>
    public int InFlightMax => Volatile.Read(ref _inFlightMax);

    /// <summary>The number of commands in flight.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    public static Reply Accepted(Command command) => new()
    {
        Payment = new MakePaymentResponse
        {
            TransactionId = command.TransactionId,
            Outcome = PaymentOutcome.Accepted,
            Balance = Samples.Dollars(1),
            OnHold = Samples.Dollars(0),
            DecideTime = new() { Seconds = 1_769_900_000 },
            Version = 1,
        },
    };

    public async Task<Reply> SendAsync(Request request, Action<int>? stored = null)
    {
        var command = request.ToCommand();
        var now = Interlocked.Increment(ref _inFlight);
        int max;
        while (now > (max = InFlightMax) && Interlocked.CompareExchange(ref _inFlightMax, now, max) != max)
        {
        }
        _commands.Enqueue(command);
        _requests.Enqueue(request);
        try
        {
            if (Partition is { } partition)
            {
                stored?.Invoke(partition);
            }
            return await Answer(command);
        }
        finally
        {
            Interlocked.Decrement(ref _inFlight);
        }
    }
}
