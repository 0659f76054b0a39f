using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Proxy;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Proxy;

public sealed class GrpcServiceTests : IRequestTransport, IDisposable
{
    private const long Second = 1_000_000;

    private readonly ManualTime _time = new();
    private readonly Admission _admission;
    private readonly SteadyTime _steady;
    private readonly GrpcService _service;
    private readonly GrpcAdminService _admin;
    private Command? _sent;
    private Reply _reply = new() { Payment = new MakePaymentResponse { Version = 3 } };

    public GrpcServiceTests()
    {
        var options = Options.Create(new ProxyOptions
        {
            DeadlineDefault = TimeSpan.FromSeconds(30),
            DeadlineMax = TimeSpan.FromSeconds(60),
            RequestBytesMax = 256,
        });
        _admission = Admissions.With(options.Value);
        _steady = new SteadyTime(_time);
        var handler = new RequestHandler(this, _admission, options, _steady);
        _service = new GrpcService(handler, _admission, options, _steady);
        _admin = new GrpcAdminService(handler, _steady);
    }

    public void Dispose()
    {
        _steady.Dispose();
        _admission.Dispose();
    }

    public TransportDescription Description { get; } = new("test", "Nothing.", StoresCommands: false, TimesSteps: true);

    Task<Reply> IRequestTransport.SendAsync(Request request, Action<int>? stored)
    {
        Assert.Equal(1, _admission.InFlight);
        _sent = request.ToCommand();
        return Task.FromResult(_reply);
    }

    [Fact]
    public async Task A_payment_is_sent_with_its_own_transaction_id_and_its_answer_is_returned()
    {
        var response = await _service.MakePayment(Samples.Payment(), Call());
        Assert.Equal(3, response.Version);
        Assert.Equal(Samples.TransactionId, _sent!.TransactionId);
        Assert.Equal(Samples.Payment(), _sent.Payment);
        Assert.Equal(_time.Microseconds(), _sent.ReceivedUnixUs);
        Assert.Equal(0, _admission.InFlight);
    }

    [Fact]
    public async Task A_balance_check_gets_a_generated_transaction_id()
    {
        _reply = new Reply { Balance = new CheckBalanceResponse { Version = 4 } };
        Assert.Equal(4, (await _service.CheckBalance(Samples.Balance(), Call())).Version);
        Assert.True(Guid.TryParse(_sent!.TransactionId, out _));
    }

    [Theory]
    [InlineData(null, 30)]
    [InlineData(5, 5)]
    [InlineData(60, 60)]
    [InlineData(3600, 60)]
    public async Task A_command_carries_the_callers_deadline_within_the_proxys_limits(int? requestedS, int expectedS)
    {
        await _service.MakePayment(Samples.Payment(), Call(requestedS));
        Assert.Equal(_time.Microseconds() + (expectedS * Second), _sent!.DeadlineUnixUs);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(-1)]
    public async Task A_deadline_is_correct_after_the_wall_clock_was_set_by_an_hour(int hours)
    {
        _time.Set(TimeSpan.FromHours(hours));
        await _service.MakePayment(Samples.Payment(), Call(5));
        Assert.Equal(_steady.Microseconds() + (5 * Second), _sent!.DeadlineUnixUs);
    }

    [Fact]
    public async Task A_change_of_a_limit_is_sent_with_its_own_transaction_id_and_its_answer_is_returned()
    {
        _reply = new Reply { CreditLimit = new SetCreditLimitResponse { Version = 5 } };
        var request = Limit();
        Assert.Equal(5, (await _admin.SetCreditLimit(request, Call())).Version);
        Assert.Equal(Samples.TransactionId, _sent!.TransactionId);
        Assert.Equal(request, _sent.CreditLimit);
        Assert.Equal(0, _admission.InFlight);
    }

    [Fact]
    public async Task A_change_of_a_limit_that_breaks_a_rule_is_refused()
    {
        var request = Limit();
        request.Limit.Units = -1;
        var e = await FailsAsync(() => _admin.SetCreditLimit(request, Call()));
        Assert.Equal("limit", e.Field);
        Assert.Null(_sent);
    }

    [Fact]
    public async Task A_reply_of_another_type_is_an_internal_error()
    {
        var e = await FailsAsync(() => _admin.SetCreditLimit(Limit(), Call()));
        Assert.Equal(StatusCode.Internal, e.Status);
        Assert.Equal(ErrorReasons.ProcessingFailed, e.Reason);
    }

    [Fact]
    public async Task A_request_that_breaks_a_rule_is_refused_before_it_takes_a_place()
    {
        var e = await FailsAsync(() => _service.MakePayment(Samples.Payment("a/b"), Call()));
        Assert.Equal(StatusCode.InvalidArgument, e.Status);
        Assert.Equal("account_id", e.Field);
        Assert.Null(_sent);
    }

    [Fact]
    public async Task A_request_that_is_too_large_is_refused_for_its_size()
    {
        var e = await FailsAsync(
            () => _service.MakePayment(Samples.Payment(new string('a', 1000)), Call()));
        Assert.Equal(StatusCode.InvalidArgument, e.Status);
        Assert.Equal(ErrorReasons.RequestTooLarge, e.Reason);
        Assert.Contains("Billing:Proxy:RequestBytesMax", e.Message, StringComparison.Ordinal);
        Assert.Null(_sent);
    }

    [Fact]
    public async Task A_call_whose_caller_has_gone_before_its_command_is_sent_is_not_sent_and_frees_its_place()
    {
        var call = new StubCall(DateTime.MaxValue, new CancellationToken(canceled: true));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => _service.MakePayment(Samples.Payment(), call));
        Assert.Null(_sent);
        Assert.Equal(0, _admission.InFlight);
    }

    [Fact]
    public async Task An_error_reply_is_returned_as_its_gRPC_status_and_frees_the_place()
    {
        _reply = Replies.Error(0, StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused, "used before");
        var e = await FailsAsync(() => _service.MakePayment(Samples.Payment(), Call()));
        Assert.Equal(StatusCode.AlreadyExists, e.Status);
        Assert.Equal(ErrorReasons.TransactionIdReused, e.Reason);
        Assert.Equal(0, _admission.InFlight);
    }

    private static async Task<Failure> FailsAsync(Func<Task> call) =>
        (await Assert.ThrowsAsync<FailureException>(call)).Failure;

    private static SetCreditLimitRequest Limit() => new()
    {
        TransactionId = Samples.TransactionId,
        AccountId = "acct-42",
        PaymentType = PaymentType.Visa,
        Limit = Samples.Dollars(500),
    };

    private StubCall Call(int? deadlineS = null) => new(
        deadlineS is { } seconds ? _time.GetUtcNow().UtcDateTime.AddSeconds(seconds) : DateTime.MaxValue);
}
