using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy;

public sealed class TimedCallTests : IAsyncDisposable
{
    private const long Sent = 1_769_860_800_000_000;

    private readonly FakeBackend _backend = new();
    private readonly Task<ProxyHost> _proxy;

    public TimedCallTests() => _proxy = ProxyHost.StartAsync(_backend);

    public async ValueTask DisposeAsync() => await (await _proxy).DisposeAsync();

    [Fact]
    public async Task A_call_without_the_header_is_not_timed()
    {
        using var call = (await _proxy).Client.MakePaymentAsync(Samples.Payment());
        await call;
        Assert.Null(call.GetTrailers().Get(Trailers.Times));
        Assert.Null(Assert.Single(_backend.Commands).Timing);
    }

    [Fact]
    public async Task A_call_with_the_header_gets_its_own_time_and_those_of_the_proxy_and_the_backend()
    {
        _backend.Answer = command =>
        {
            var reply = FakeBackend.Accepted(command);
            reply.Timing = new Timing(
                command.Timing)
            { ConsumedUnixUs = 11, StoredUnixUs = 12, RepliedUnixUs = 13, SentUnixUs = 99 };
            return Task.FromResult(reply);
        };
        using var call = (await _proxy).Client.MakePaymentAsync(Samples.Payment(), SentAt("1769860800000000"));
        await call;

        var command = Assert.Single(_backend.Commands);
        Assert.Equal(new Timing { SentUnixUs = Sent }, command.Timing);
        Assert.True(StepTimes.TryParse(call.GetTrailers().GetValue(Trailers.Times), out var times));
        var us = times.Steps().ToDictionary(s => s.Key, s => s.Value is { } at ? UnixTime.Microseconds(at) : 0);
        Assert.Equal(
            [Sent, command.ReceivedUnixUs, 0, 11, 0, 12, 13], StepTimes.Names.Take(7).Select(name => us[name]));
        Assert.True(us["answered"] >= command.ReceivedUnixUs);
        Assert.Equal(0, us["returned"]);
    }

    [Fact]
    public async Task Missing_or_invalid_times_of_a_backend_leave_the_proxys_own_times()
    {
        _backend.Answer = command =>
        {
            var reply = FakeBackend.Accepted(command);
            reply.Timing = new Timing { ConsumedUnixUs = long.MaxValue, DecidedUnixUs = -5 };
            return Task.FromResult(reply);
        };
        using var call = (await _proxy).Client.MakePaymentAsync(Samples.Payment(), SentAt("1769860800000000"));
        await call;
        Assert.True(StepTimes.TryParse(call.GetTrailers().GetValue(Trailers.Times), out var times));
        Assert.Equal(
            ["sent", "received", "answered"], times.Steps().Where(s => s.Value is not null).Select(s => s.Key));
    }

    [Theory]
    [InlineData("soon")]
    [InlineData("0")]
    [InlineData("-1")]
    [InlineData("99999999999999999999")]
    public async Task An_invalid_time_is_refused_with_the_name_of_the_header(string value)
    {
        using var call = (await _proxy).Client.MakePaymentAsync(Samples.Payment(), SentAt(value));
        var failure = await Assert.ThrowsAsync<RpcException>(() => call.ResponseAsync);
        Assert.Equal(StatusCode.InvalidArgument, failure.StatusCode);
        Assert.Equal(ErrorReasons.InvalidField, failure.Reason());
        Assert.Equal(RequestHeaders.SentAt, failure.Field());
        Assert.StartsWith(RequestHeaders.SentAt, failure.Status.Detail, StringComparison.Ordinal);
        Assert.Empty(_backend.Commands);
        Assert.Equal(0, (await _proxy).Admission.InFlight);
    }

    private static Metadata SentAt(string value) => new() { { RequestHeaders.SentAt, value } };
}
