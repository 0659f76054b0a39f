using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Rpc.Proxies;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Rpc;

public sealed class DirectTransportTests : IAsyncDisposable
{
    private readonly Dictionary<string, RecordingChannel> _channels = [];
    private readonly TimeProvider _time = TimeProvider.System;
    private readonly DirectTransport _transport;

    public DirectTransportTests() => _transport = new DirectTransport(
        ["a:1", "b:2", "c:3"], address => _channels[address] = new RecordingChannel(), _time);

    public ValueTask DisposeAsync() => _transport.DisposeAsync();

    [Fact]
    public async Task Reads_and_writes_of_an_account_go_to_the_same_backend()
    {
        for (var n = 0; n < 50; n++)
        {
            var account = $"acct-{n}";
            await SendAsync(Payment(account));
            await SendAsync(new Command
            {
                Balance = new CheckBalanceRequest { AccountId = account, PaymentType = PaymentType.Visa },
            });
        }

        Assert.All(_channels.Values, channel => Assert.NotEmpty(channel.Accounts));
        Assert.Equal(50, _channels.Values.Sum(channel => channel.Accounts.Distinct().Count()));
        Assert.Equal(100, _channels.Values.Sum(channel => channel.Accounts.Count));
    }

    [Fact]
    public async Task A_command_whose_deadline_has_passed_is_not_sent()
    {
        var command = Payment("acct");
        command.DeadlineUnixUs = _time.Microseconds() - 1;

        var reply = await SendAsync(command);

        Assert.Equal((int)StatusCode.DeadlineExceeded, reply.Error.StatusCode);
        Assert.Equal(ErrorReasons.NoAnswerInTime, reply.Error.Reason);
        Assert.All(_channels.Values, channel => Assert.Empty(channel.Accounts));
    }

    [Fact]
    public async Task The_time_left_until_the_deadline_limits_the_call()
    {
        var command = Payment("acct");
        command.DeadlineUnixUs = _time.Microseconds() + 60_000_000;

        await SendAsync(command);

        Assert.InRange(
            _channels.Values.Single(c => c.Accounts.Count > 0).Left, TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(60));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(long.MaxValue)]
    public async Task A_call_without_a_reachable_deadline_is_limited_to_one_day(long deadline)
    {
        var command = Payment("acct");
        command.DeadlineUnixUs = deadline;

        await SendAsync(command);

        Assert.Equal(TimeSpan.FromDays(1), _channels.Values.Single(c => c.Accounts.Count > 0).Left);
    }

    [Fact]
    public async Task Disposing_it_closes_the_channels_to_the_backends()
    {
        await _transport.DisposeAsync();

        Assert.All(_channels.Values, channel => Assert.True(channel.IsClosed));
    }

    private static Command Payment(string account) => new()
    {
        Payment = new MakePaymentRequest { AccountId = account, PaymentType = PaymentType.Visa },
    };

    private Task<Reply> SendAsync(Command command) => _transport.SendAsync(Request.Of(command));

    private sealed class RecordingChannel : IBackendChannel
    {
        public List<string> Accounts { get; } = [];

        public TimeSpan Left { get; private set; }

        public bool IsClosed { get; private set; }

        public Task<Reply> ExecuteAsync(Request request, TimeSpan left)
        {
            Accounts.Add(request.Route.AccountId);
            Left = left;
            return Task.FromResult(new Reply());
        }

        public ValueTask DisposeAsync()
        {
            IsClosed = true;
            return ValueTask.CompletedTask;
        }
    }
}
