using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Authorization;

namespace Billing.Proxy.Calls;

/// <summary>The API for the operators of the platform.</summary>
[Authorize(Scopes.Admin)]
public sealed class BillingAdminService(CommandSender sender, Admission admission) : BillingAdmin.BillingAdminBase
{
    /// <inheritdoc/>
    public override async Task<SetCreditLimitResponse> SetCreditLimit(
        SetCreditLimitRequest request, ServerCallContext context)
    {
        sender.Check(request, FieldRules.Check(request));
        using var admitted = admission.Enter(Caller.Of(context), request.AccountId);
        var command = new Command { TransactionId = request.TransactionId, CreditLimit = KnownFields.Of(request) };
        var reply = await sender.SendAsync(command, sender.DeadlineOf(context), admitted, context.CancellationToken);
        return reply.CreditLimit ?? throw Failure.OtherReply(reply);
    }
}
