using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Proxy.Failures;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Proxy.Calls;

/// <summary>Timed calls: callers that send <see cref="RequestHeaders.SentAt"/> are told when each step was taken.</summary>
internal static class TimedCall
{
    /// <summary>The call of a context; if it is timed, its answer has the times in the trailer <see cref="Trailers.Times"/>.</summary>
    /// <exception cref="FailureException">INVALID_ARGUMENT: the header is not a valid time.</exception>
    public static IncomingCall Of(ServerCallContext context, TimeProvider time)
    {
        var call = GrpcCall.Of(context, time);
        // Not context.RequestHeaders: that copies every header of every call.
        if (!context.GetHttpContext().Request.Headers.TryGetValue(RequestHeaders.SentAt, out var value))
        {
            return call;
        }
        return call with
        {
            SentUnixUs = StepTimes.TryParseUnixUs(value.ToString(), out var sent)
                ? sent
                : throw new FailureException(Failure.BadField(new FieldViolation(
                    RequestHeaders.SentAt, "must be whole microseconds since the Unix epoch, e.g. 1769860800000000"))),
            Replied = (request, reply) => context.ResponseTrailers.Add(Trailers.Times, Times(request, reply, time.Microseconds()).ToString()),
        };
    }

    /// <summary>When the steps of a timed request were taken.</summary>
    public static StepTimes Times(Request request, Reply reply, long answeredUnixUs)
    {
        // A backend that does not support timing leaves it out.
        var backend = reply.Timing ?? new Timing();
        return StepTimes.Of(new Dictionary<string, long>(StringComparer.Ordinal)
        {
            ["sent"] = request.SentUnixUs ?? 0,
            ["received"] = request.ReceivedUnixUs,
            ["appended"] = backend.AppendedUnixUs,
            ["consumed"] = backend.ConsumedUnixUs,
            ["decided"] = backend.DecidedUnixUs,
            ["stored"] = backend.StoredUnixUs,
            ["replied"] = backend.RepliedUnixUs,
            ["answered"] = answeredUnixUs,
        });
    }
}
