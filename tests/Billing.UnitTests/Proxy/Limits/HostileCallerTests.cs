using Billing.Hosting;
using Billing.Messaging.Requests;
using Billing.Proxy.Memory;
using Billing.UnitTests.Proxy.Security;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Health.V1;

namespace Billing.UnitTests.Proxy.Limits;

/// <summary>Callers that send and do not finish, or ask and do not read: each holds no more of a proxy's memory than
/// its share, and others are served.</summary>
public sealed class HostileCallerTests
{
    private const string Service = "/billing.v1.BillingService/";

    private static readonly MemoryBudget Memory = new(64 << 20);

    private readonly FakeBackend _backend = new();

    [Theory]
    [InlineData("StreamStatement")]
    [InlineData("ListStatement")]
    public async Task A_caller_that_takes_nothing_gets_as_many_pages_as_its_share_and_others_read_theirs(string method)
    {
        _backend.Answer = command => Task.FromResult(
            command.Statement is { } page ? new Reply { Statement = PageOf(page) } : FakeBackend.Accepted(command));
        await using var proxy = await StartAsync();
        using var other = new OtherCaller(proxy);
        await using (var hostile = await RawCaller.ConnectAsync(proxy.Address, window: 0))
        {
            await hostile.CallAsync(Service + method, 400, RawCaller.Framed(Statement()), isWhole: true);
            var share = (int)(proxy.Memory.Answers.Bytes / 2 / ProxyMemory.PageBytes);
            await Poll.UntilAsync(() => hostile.Ended == 400 - share);

            Assert.InRange(share, 1, 100);
            Assert.Equal(share, _backend.Commands.Count);
            Assert.Equal(share * ProxyMemory.PageBytes, proxy.Memory.Answers.Taken);
            Assert.True(hostile.WasTold("statements"));
            await other.PaysAsync();
            Assert.NotEmpty((await other.Client.ListStatementAsync(Statement())).Entries);
        }
        await Poll.UntilAsync(() => proxy.Memory.Answers.Taken == 0);
    }

    [Fact]
    public async Task An_answer_that_nobody_takes_is_given_up_in_the_end_whatever_else_its_caller_sends()
    {
        var time = new ManualTime();
        _backend.Answer = command => Task.FromResult(new Reply { Statement = PageOf(command.Statement) });
        await using var proxy = await StartAsync(time);
        await using var hostile = await RawCaller.ConnectAsync(proxy.Address, window: 0);
        await hostile.CallAsync(Service + "ListStatement", 2, RawCaller.Framed(Statement()), isWhole: true);
        await Poll.UntilAsync(() => proxy.Memory.Answers.Taken == 2 * ProxyMemory.PageBytes);
        await hostile.PingAsync();
        await Poll.UntilAsync(() => hostile.Pings > 0);

        await Poll.UntilAsync(() =>
        {
            time.Advance(CallerConnection.UnreadMax);
            return proxy.Memory.Answers.Taken == 0;
        });
        await Poll.UntilAsync(() => hostile.Ended == 2);
    }

    [Fact]
    public async Task A_caller_that_finishes_nothing_holds_no_more_than_its_share_and_others_are_served()
    {
        await using var proxy = await StartAsync();
        using var other = new OtherCaller(proxy);
        var body = RawCaller.Framed(Samples.Payment(new string('a', 15_900)));
        var hostile = new List<RawCaller>();
        for (var i = 0; i < 10; i++)
        {
            hostile.Add(await RawCaller.ConnectAsync(proxy.Address));
            await hostile[i].CallAsync(Service + "MakePayment", 60, body[..^1], isWhole: false);
        }
        // Each takes four blocks of the server.
        var share = (int)(proxy.Memory.Bodies.Bytes / 2 / 16_384);
        await Poll.UntilAsync(() => hostile.Sum(caller => caller.Ended) >= 600 - share);

        Assert.InRange(share, 1, 300);
        Assert.InRange(proxy.Memory.Bodies.Taken, 1, proxy.Memory.Bodies.Bytes / 2);
        Assert.Contains(hostile, caller => caller.WasTold("unfinished"));
        Assert.Empty(_backend.Commands);
        await other.PaysAsync();
        foreach (var caller in hostile)
        {
            await caller.DisposeAsync();
        }
        await Poll.UntilAsync(() => proxy.Memory.Parts.All(part => part.Name == "connections" || part.Taken == 0));
    }

    [Theory]
    [InlineData(3)]
    [InlineData(1_000)]
    public async Task A_request_that_does_not_come_whole_is_ended(int bytes)
    {
        var time = new ManualTime();
        await using var proxy = await StartAsync(time);
        await using var hostile = await RawCaller.ConnectAsync(proxy.Address);
        var body = RawCaller.Framed(Samples.Payment(new string('a', 2_000)));
        var stream = await hostile.CallAsync(Service + "MakePayment", 1, body[..bytes], isWhole: false);
        await Poll.UntilAsync(() => proxy.Memory.Bodies.Taken == 4096);

        // However fast it goes on.
        await hostile.SendAsync(stream, body[bytes..^1]);
        await Poll.UntilAsync(() =>
        {
            time.Advance(TimeSpan.FromSeconds(10));
            return hostile.Ended == 1;
        });

        Assert.True(hostile.WasTold("did%20not%20come%20whole"));
        Assert.Empty(_backend.Commands);
        await Poll.UntilAsync(() => proxy.Memory.Bodies.Taken == 0);
    }

    [Fact]
    public async Task A_message_in_parts_is_served_when_it_is_whole()
    {
        await using var proxy = await StartAsync();
        await using var caller = await RawCaller.ConnectAsync(proxy.Address);
        var body = RawCaller.Framed(Samples.Payment());
        var stream = await caller.CallAsync(Service + "MakePayment", 1, body[..7], isWhole: false);
        await Poll.UntilAsync(() => proxy.Memory.Bodies.Taken > 0);
        await caller.SendAsync(stream, body[7..], isEnd: true);
        await Poll.UntilAsync(() => caller.Ended == 1);
        Assert.Single(_backend.Commands);
        Assert.Equal(0, proxy.Memory.Bodies.Taken);
    }

    [Fact]
    public async Task A_caller_that_takes_no_answers_is_disconnected_although_it_pings_and_others_are_served()
    {
        var time = new ManualTime();
        await using var proxy = await StartAsync(time);
        using var other = new OtherCaller(proxy);
        await using var hostile = await RawCaller.ConnectAsync(proxy.Address, window: 0);
        await hostile.CallAsync(Service + "MakePayment", 150, RawCaller.Framed(Samples.Payment()), isWhole: true);
        await Poll.UntilAsync(() => _backend.Commands.Count == 150);
        await proxy.WaitUntilNoRequestRunsAsync();

        Assert.InRange(proxy.Memory.Requests.Taken, 150 * ProxyMemory.RequestBytes, long.MaxValue);
        await other.PaysAsync();
        await hostile.PingAsync();
        await Poll.UntilAsync(() => hostile.Pings > 0);
        await Poll.UntilAsync(() =>
        {
            time.Advance(CallerConnection.UnreadMax);
            return hostile.Closed.IsCompleted;
        });

        await Poll.UntilAsync(() => proxy.Memory.Requests.Taken == 0);
        await other.PaysAsync();
    }

    [Fact]
    public async Task An_answer_that_is_not_taken_keeps_its_place_within_TLS_too()
    {
        await using var proxy = await SecureProxy.StartAsync(memory: Memory);
        var memory = proxy.Host.Memory;
        await using (var hostile = await RawCaller.ConnectAsync(proxy.Grpc.AbsoluteUri, window: 0))
        {
            await hostile.CallAsync(
                "/grpc.health.v1.Health/Check", 50, RawCaller.Framed(new HealthCheckRequest()), isWhole: true);
            await Poll.UntilAsync(() => memory.Requests.Taken >= 50 * ProxyMemory.RequestBytes);
            await proxy.Host.WaitUntilNoRequestRunsAsync();
            Assert.InRange(memory.Requests.Taken, 50 * ProxyMemory.RequestBytes, long.MaxValue);
            for (var i = 0; i < 50; i++)
            {
                await hostile.TakeAsync((2 * i) + 1, 10_000);
            }
            await Poll.UntilAsync(() => hostile.Ended == 50 && memory.Requests.Taken == 0);
        }
        await Poll.UntilAsync(() => memory.Connections.Taken == 0);
    }

    [Fact]
    public async Task A_caller_that_takes_its_answers_late_keeps_its_connection()
    {
        await using var proxy = await StartAsync();
        await using var caller = await RawCaller.ConnectAsync(proxy.Address, window: 0);
        await caller.CallAsync(Service + "MakePayment", 150, RawCaller.Framed(Samples.Payment()), isWhole: true);
        await Poll.UntilAsync(() => _backend.Commands.Count == 150);
        await proxy.WaitUntilNoRequestRunsAsync();
        for (var i = 0; i < 150; i++)
        {
            await caller.TakeAsync((2 * i) + 1, 10_000);
        }
        await Poll.UntilAsync(() => caller.Ended == 150);
        await Poll.UntilAsync(() => proxy.Memory.Requests.Taken == 0);
        Assert.False(caller.Closed.IsCompleted);
    }

    [Theory]
    [InlineData(Service + "MakePayment")]
    [InlineData("/grpc.health.v1.Health/Check")]
    [InlineData("/nothing/here")]
    public async Task An_address_has_no_more_requests_open_than_its_share_and_others_are_served(string method)
    {
        await using var proxy = await StartAsync();
        using var other = new OtherCaller(proxy);
        var hostile = new List<RawCaller>();
        for (var i = 0; i < 4; i++)
        {
            hostile.Add(await RawCaller.ConnectAsync(proxy.Address, window: 0));
            await hostile[i].CallAsync(method, 1_000, [0], isWhole: false);
        }
        // The others are refused, or their connections are ended where they come faster than that.
        var share = proxy.Memory.Requests.Bytes / 2 / ProxyMemory.RequestBytes;
        await Poll.UntilAsync(
            () => hostile.Sum(caller => caller.Closed.IsCompleted ? 1_000 : caller.Ended) >= 4_000 - share);

        Assert.InRange(share, 1, 2_000);
        Assert.InRange(proxy.Memory.Requests.Taken, 0, proxy.Memory.Requests.Bytes * 5 / 8);
        await other.PaysAsync();
        foreach (var caller in hostile)
        {
            await caller.DisposeAsync();
        }
        await Poll.UntilAsync(() => proxy.Memory.Requests.Taken == 0);
    }

    [Fact]
    public async Task An_address_has_no_more_connections_than_stay_free_and_others_are_served()
    {
        await using var proxy = await StartAsync();
        using var other = new OtherCaller(proxy);
        var idle = new List<RawCaller>();
        for (var i = 0; i < 300; i++)
        {
            idle.Add(await RawCaller.ConnectAsync(proxy.Address));
        }
        var share = (int)(proxy.Memory.Connections.Bytes / 2 / ProxyMemory.ConnectionBytes);
        await Poll.UntilAsync(() => idle.Count(caller => caller.Closed.IsCompleted) == 300 - share);

        Assert.InRange(share, 1, 200);
        await other.PaysAsync();
        foreach (var caller in idle)
        {
            await caller.DisposeAsync();
        }
        await Poll.UntilAsync(() => proxy.Memory.Connections.Taken == ProxyMemory.ConnectionBytes);
    }

    [Fact]
    public async Task A_caller_has_as_many_streams_open_as_their_windows_fit_its_share_and_others_open_theirs()
    {
        await using var proxy = await StartAsync();
        using var other = new OtherCaller(proxy);
        await using var hostile = await RawCaller.ConnectAsync(proxy.Address);
        await hostile.CallAsync(Service + "MakePayments", 200, [], isWhole: false);
        await Poll.UntilAsync(() => hostile.Ended > 0 && hostile.WasTold("streams"));

        Assert.InRange(proxy.Memory.Bodies.Taken, 1, proxy.Memory.Bodies.Bytes / 2);
        using var stream = other.Client.MakePayments();
        await stream.RequestStream.WriteAsync(Samples.Payment());
        Assert.True(await stream.ResponseStream.MoveNext(CancellationToken.None));
    }

    [Fact]
    public async Task A_caller_that_opens_far_more_streams_than_it_may_is_disconnected_and_not_for_a_few()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, options => options.StreamsPerConnection = 10);
        using var other = new OtherCaller(proxy);
        await using var hasty = await RawCaller.ConnectAsync(proxy.Address);
        await using var hostile = await RawCaller.ConnectAsync(proxy.Address);
        await hasty.CallAsync(Service + "MakePayment", 100, [], isWhole: false);
        await hostile.CallAsync(Service + "MakePayment", 1_000, [], isWhole: false);

        await Poll.UntilAsync(() => hostile.Closed.IsCompleted && hasty.Ended == 90);
        Assert.False(hasty.Closed.IsCompleted);
        await other.PaysAsync();
    }

    private static ListStatementRequest Statement() =>
        new() { AccountId = "acct-42", PaymentType = PaymentType.Visa, PageSize = 1_000 };

    private static StatementPage PageOf(StatementPageRequest request)
    {
        var (page, bytes) = (new StatementPage(), 0);
        for (var version = request.AfterVersion + 1; version <= 1_500; version++)
        {
            var entry = new StatementEntry
            {
                Version = version,
                TransactionId = Samples.TransactionId,
                Balance = Samples.Dollars(version),
                Notes = new PaymentNotes { Reference = new string('n', 100) },
            };
            if (!page.TryAdd(request, entry, ref bytes))
            {
                page.HasMore = true;
                break;
            }
        }
        page.Closing = new AccountState { Version = page.Entries[^1].Version };
        return page;
    }

    private Task<ProxyHost> StartAsync(TimeProvider? time = null) =>
        ProxyHost.StartAsync(_backend, memory: Memory, time: time);
}
