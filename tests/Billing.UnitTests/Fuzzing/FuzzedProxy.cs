using System.Net;
using System.Net.Sockets;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.UnitTests.Proxy;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.UnitTests.Fuzzing;

/// <summary>A real proxy with REST and a fake backend that answers every kind of request, and what must hold for it
/// after any input: nothing was logged as an error, no call is left, and it serves.</summary>
internal sealed class FuzzedProxy : IAsyncDisposable
{
    // Far more than a proxy keeps for the connections and calls of a fuzzer, and far less than what its
    // inputs have in all.
    private const long GrowthMax = 200_000_000;

    private static readonly TimeSpan Quiet = TimeSpan.FromMilliseconds(25);

    private readonly FaultLog _log;
    private readonly AnsweringBackend _backend;
    private readonly long _before = GC.GetTotalMemory(forceFullCollection: true);

    private FuzzedProxy(ProxyHost host, FaultLog log, AnsweringBackend backend) =>
        (Host, _log, _backend) = (host, log, backend);

    public ProxyHost Host { get; }

    public Uri Grpc => new(Host.Address);

    /// <summary>Number of commands that its backend got.</summary>
    public int Commands => _backend.Commands;

    /// <param name="answers">What the backend answers; by default a valid answer to the command.</param>
    public static async Task<FuzzedProxy> StartAsync(Func<Request, Reply>? answers = null)
    {
        var (log, backend) = (new FaultLog(), new AnsweringBackend(answers ?? CompleteReplies.To));
        return new FuzzedProxy(
            await ProxyHost.StartAsync(
                backend, withRest: true, logs: log,
                settings: new Dictionary<string, string?> { ["Billing:Limits:ConnectionAgeMax"] = "1.00:00:00" }),
            log, backend);
    }

    /// <summary>Fails if an error was logged.</summary>
    public void AssertNoFaults() => _log.AssertNone();

    /// <summary>Fails unless an ordinary payment is served.</summary>
    public async Task ServesAsync()
    {
        var paid = await Host.Client.MakePaymentAsync(Samples.Payment());
        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        AssertNoFaults();
    }

    /// <summary>Fails if a call is left, or memory is kept.</summary>
    public async Task EndAsync()
    {
        await Host.WaitUntilNoRequestRunsAsync().WaitAsync(TimeSpan.FromMinutes(5));
        AssertNoFaults();
        Assert.Equal(0, Host.Admission.InFlight);
        if (Fuzz.Time is not null)
        {
            // Otherwise other tests of the process have their memory too.
            Assert.InRange(GC.GetTotalMemory(forceFullCollection: true) - _before, long.MinValue, GrowthMax);
        }
    }

    /// <summary>Sends bytes to a port and returns all that is answered until the connection ends.</summary>
    /// <param name="port">The port.</param>
    /// <param name="sent">The bytes.</param>
    /// <param name="farewell">What follows the bytes to have the server end the connection once it has answered. It
    /// takes a sending side that has ended for a caller who is gone, and answers nothing; so that side is ended only
    /// when nothing comes for a while. Without a farewell it is ended at once.</param>
    public static async Task<byte[]> ExchangeAsync(int port, byte[] sent, byte[]? farewell = null)
    {
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        var answered = new MemoryStream();
        try
        {
            await socket.ConnectAsync(IPAddress.Loopback, port);
            var sending = SendAsync(socket, [.. sent, .. farewell ?? []], isAll: farewell is null);
            var buffer = new byte[8_192];
            while (true)
            {
                var receiving = socket.ReceiveAsync(buffer);
                if (farewell is not null && await Task.WhenAny(receiving, Task.Delay(Quiet)) != receiving
                    && sending.IsCompleted)
                {
                    socket.Shutdown(SocketShutdown.Send);
                }
                var read = await receiving;
                if (read == 0)
                {
                    break;
                }
                answered.Write(buffer, 0, read);
            }
            await sending;
        }
        catch (SocketException)
        {
            // The server may refuse the rest, and what it sent before is lost then.
        }
        return answered.ToArray();
    }

    public ValueTask DisposeAsync() => Host.DisposeAsync();

    private static async Task SendAsync(Socket socket, byte[] sent, bool isAll)
    {
        for (ReadOnlyMemory<byte> unsent = sent; unsent.Length > 0;)
        {
            unsent = unsent[await socket.SendAsync(unsent)..];
        }
        if (isAll)
        {
            socket.Shutdown(SocketShutdown.Send);
        }
    }

    private sealed class AnsweringBackend(Func<Request, Reply> answers) : IRequestTransport
    {
        private int _commands;

        public int Commands => Volatile.Read(ref _commands);

        public TransportDescription Description { get; } = new(
            "test", "Nothing.", StoresCommands: true, TimesSteps: true);

        public Task<Reply> SendAsync(Request request, Action<int>? stored = null)
        {
            Interlocked.Increment(ref _commands);
            stored?.Invoke(0);
            return Task.FromResult(answers(request));
        }
    }
}
