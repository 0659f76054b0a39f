using Billing.Hosting;
using Billing.Proxy.Security;
using Grpc.Core;

namespace Billing.Proxy.Calls;

/// <summary>What gRPC says of a call besides its request.</summary>
internal static class GrpcCall
{
    /// <summary>The call that a context describes.</summary>
    public static IncomingCall Of(ServerCallContext context, TimeProvider time) =>
        new(Caller.Of(context), DeadlineOf(context, time), context.CancellationToken);

    // A call without a deadline has DateTime.MaxValue. The server states deadlines by the machine's wall clock, which may have been
    // adjusted since this process started; the time left is the same on every clock.
    private static CallerDeadline DeadlineOf(ServerCallContext context, TimeProvider time) => new(
        time.GetTimestamp(),
        context.Deadline == DateTime.MaxValue ? null : context.Deadline - time.WallClock().GetUtcNow().UtcDateTime);
}
