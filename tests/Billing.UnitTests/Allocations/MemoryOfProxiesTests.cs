using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Proxy.Memory;
using Billing.UnitTests.Proxy;
using Billing.UnitTests.Proxy.Limits;
using Billing.UnitTests.Proxy.Security;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;

namespace Billing.UnitTests.Allocations;

/// <summary>What the things take that a proxy reckons with (<see cref="ProxyMemory"/>). The callers are in the same
/// process, and hold next to nothing. No other test runs meanwhile.</summary>
[Collection(AloneInTheProcess.Name)]
public sealed class MemoryOfProxiesTests
{
    // Of what is reckoned with, in percent: if less is measured, the limits can be closer.
    private const int UsedMin = 70;
    private const string Method = "/billing.v1.BillingService/MakePayment";
    private const int Calls = 2_000;
    private const int Connections = 20;

    private static readonly MemoryBudget Memory = new(1L << 30);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_call_that_waits_for_its_reply(bool isLargest)
    {
        var backend = new SilentBackend();
        await using var proxy = await ProxyHost.StartAsync(backend, memory: Memory);
        var callers = new List<RawCaller>();
        for (var i = 0; i < Connections; i++)
        {
            callers.Add(await RawCaller.ConnectAsync(proxy.Address));
        }
        var payment = Samples.Payment();
        if (isLargest)
        {
            payment.Notes = Samples.LargestNotes();
        }
        await callers[0].CallAsync(Method, 1, RawCaller.Framed(payment), isWhole: true);
        await Poll.UntilAsync(() => backend.Count == 1);
        var before = GC.GetTotalMemory(forceFullCollection: true);

        foreach (var caller in callers)
        {
            await caller.CallAsync(
                Method, Calls / Connections, RawCaller.Framed(payment), isWhole: true);
        }
        await Poll.UntilAsync(() => backend.Count == 1 + Calls);
        var bytes = (GC.GetTotalMemory(forceFullCollection: true) - before) / (double)Calls;

        var reckoned = ProxyMemory.RequestBytes
            + (ProxyMemory.CallBytes * ProxyMemory.PlacesOf(payment.CalculateSize()));
        Assert.InRange(bytes, reckoned * UsedMin / 100, reckoned);
        foreach (var caller in callers)
        {
            await caller.DisposeAsync();
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_idle_connection(bool hasTls)
    {
        await using var secure = hasTls ? await SecureProxy.StartAsync(memory: Memory) : null;
        await using var plain = hasTls ? null : await ProxyHost.StartAsync(new SilentBackend(), memory: Memory);
        var address = secure?.Grpc.AbsoluteUri ?? plain!.Address;
        var callers = new List<RawCaller> { await RawCaller.ConnectAsync(address) };
        var before = GC.GetTotalMemory(forceFullCollection: true);

        for (var i = 0; i < 200; i++)
        {
            callers.Add(await RawCaller.ConnectAsync(address));
            await callers[^1].PingAsync();
            await Poll.UntilAsync(() => callers[^1].Pings == 1);
        }
        var bytes = (GC.GetTotalMemory(forceFullCollection: true) - before) / 200.0;

        Assert.InRange(bytes, 0, ProxyMemory.ConnectionBytes);
        foreach (var caller in callers)
        {
            await caller.DisposeAsync();
        }
    }

    private sealed class SilentBackend : IRequestTransport
    {
        private readonly List<(Request, TaskCompletionSource<Reply>)> _waiting = [];

        public TransportDescription Description { get; } = new(
            "test", "Nothing.", StoresCommands: false, TimesSteps: true);

        public int Count
        {
            get
            {
                lock (_waiting)
                {
                    return _waiting.Count;
                }
            }
        }

        public Task<Reply> SendAsync(Request request, Action<int>? stored = null)
        {
            var reply = new TaskCompletionSource<Reply>(TaskCreationOptions.RunContinuationsAsynchronously);
            lock (_waiting)
            {
                _waiting.Add((request, reply));
            }
            return reply.Task;
        }
    }
}
