using Billing.Contracts;
using Billing.Messaging;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy;

/// <summary>The public API: checks a request, sends it on as a command, and turns the reply into an answer.</summary>
public sealed class BillingService(
    IRequestTransport transport, Admission admission, IOptions<ProxyOptions> options, TimeProvider time)
    : V1.Billing.BillingBase
{
    private readonly ProxyOptions _options = options.Value;

    /// <inheritdoc/>
    public override async Task<MakePaymentResponse> MakePayment(MakePaymentRequest request, ServerCallContext context)
    {
        RefuseIfTooLarge(request);
        RefuseIf(FieldRules.Check(request));
        var command = new Command { TransactionId = request.TransactionId, Payment = request };
        return (await SendAsync(command, context)).Payment;
    }

    /// <inheritdoc/>
    public override async Task<CheckBalanceResponse> CheckBalance(CheckBalanceRequest request, ServerCallContext context)
    {
        RefuseIfTooLarge(request);
        RefuseIf(FieldRules.Check(request));
        var command = new Command { TransactionId = Guid.NewGuid().ToString(), Balance = request };
        return (await SendAsync(command, context)).Balance;
    }

    private async Task<Reply> SendAsync(Command command, ServerCallContext context)
    {
        using var admitted = admission.Enter();
        var now = time.Microseconds();
        command.ReceivedUnixUs = now;
        command.DeadlineUnixUs = now + WaitMicroseconds(context.Deadline);
        var reply = await transport.SendAsync(command, context.CancellationToken);
        return reply.ResultCase == Reply.ResultOneofCase.Error ? throw Failure.From(reply.Error) : reply;
    }

    private long WaitMicroseconds(DateTime deadline)
    {
        // A call without a deadline carries the end of time.
        var asked = deadline == DateTime.MaxValue ? _options.DeadlineDefault : deadline - time.GetUtcNow().UtcDateTime;
        var wait = asked < _options.DeadlineMax ? asked : _options.DeadlineMax;
        return wait.Ticks / TimeSpan.TicksPerMicrosecond;
    }

    private void RefuseIfTooLarge(IMessage request)
    {
        var size = request.CalculateSize();
        if (size > _options.RequestBytesMax)
        {
            throw Failure.Create(StatusCode.InvalidArgument, ErrorReasons.RequestTooLarge,
                $"The request has {size} bytes; Billing:Proxy:RequestBytesMax allows {_options.RequestBytesMax}.");
        }
    }

    private static void RefuseIf(FieldViolation? violation)
    {
        if (violation is not null)
        {
            throw Failure.BadField(violation);
        }
    }
}
