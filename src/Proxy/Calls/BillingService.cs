using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Authorization;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Calls;

/// <summary>The public API: checks a request, sends it on as a command, and turns the reply into an answer.</summary>
public sealed class BillingService(
    CommandSender sender, Admission admission, IOptions<ProxyOptions> options, TimeProvider time)
    : V1.Billing.BillingBase
{
    /// <inheritdoc/>
    [Authorize(Scopes.PaymentsWrite)]
    public override async Task<MakePaymentResponse> MakePayment(MakePaymentRequest request, ServerCallContext context)
    {
        sender.Check(request, FieldRules.Check(request));
        var timing = TimedCall.Read(context);
        using var admitted = admission.Enter(Caller.Of(context), request.AccountId);
        var command = new Command { TransactionId = request.TransactionId, Payment = KnownFields.Of(request), Timing = timing };
        var reply = await sender.SendAsync(command, sender.DeadlineOf(context), admitted, context.CancellationToken);
        if (timing is not null)
        {
            TimedCall.Answer(context, command, reply, time.Microseconds());
        }
        return reply.Payment ?? throw Failure.OtherReply(reply);
    }

    /// <inheritdoc/>
    [Authorize(Scopes.PaymentsWrite)]
    public override async Task MakePayments(
        IAsyncStreamReader<MakePaymentRequest> requestStream, IServerStreamWriter<MakePaymentResponse> responseStream,
        ServerCallContext context)
    {
        using var places = new StreamPlaces(admission, Caller.Of(context), options.Value.StreamWindow);
        using var responses = new DrainingWriter<MakePaymentResponse>(responseStream, time, admission.Closing);
        using var stream = new PaymentStream(
            sender, requestStream, responses, places, sender.DeadlineOf(context),
            new StreamEnds(time, options.Value.StreamIdleMax, admission.Closing), context.CancellationToken);
        await stream.RunAsync();
    }

    /// <inheritdoc/>
    [Authorize(Scopes.BalancesRead)]
    public override async Task<CheckBalanceResponse> CheckBalance(CheckBalanceRequest request, ServerCallContext context)
    {
        sender.Check(request, FieldRules.Check(request));
        using var admitted = admission.Enter(Caller.Of(context), request.AccountId);
        var command = new Command { TransactionId = Guid.NewGuid().ToString(), Balance = KnownFields.Of(request) };
        var reply = await sender.SendAsync(command, sender.DeadlineOf(context), admitted, context.CancellationToken);
        return reply.Balance ?? throw Failure.OtherReply(reply);
    }

    /// <inheritdoc/>
    [Authorize(Scopes.BalancesRead)]
    public override async Task GetStatement(
        GetStatementRequest request, IServerStreamWriter<StatementEntry> responseStream, ServerCallContext context)
    {
        sender.Check(request, FieldRules.Check(request));
        using var admitted = admission.Enter(Caller.Of(context), request.AccountId, isTimed: false);
        using var responses = new DrainingWriter<StatementEntry>(responseStream, time, admission.Closing);
        var stream = new StatementStream(sender, responses, sender.DeadlineOf(context), admitted, admission.Closing);
        await stream.RunAsync(request, context.CancellationToken);
    }
}
