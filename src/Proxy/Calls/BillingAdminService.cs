using Billing.Messaging.Requests;
using Billing.Proxy.Security;
using Billing.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Authorization;

namespace Billing.Proxy.Calls;

/// <summary>The API for the operators of the platform, over gRPC.</summary>
[Authorize(Scopes.Admin)]
internal sealed class BillingAdminService(RequestHandler handler, TimeProvider time) : BillingAdmin.BillingAdminBase
{
    public override async Task<SetCreditLimitResponse> SetCreditLimit(SetCreditLimitRequest request, ServerCallContext context) =>
        (await handler.HandleAsync(RequestKinds.CreditLimit, request, IncomingCall.Of(context, time))).Value;
}
