using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Proxy;

/// <summary>Timed calls: callers that send <see cref="RequestHeaders.SentAt"/> are told when each step was taken.</summary>
internal static class TimedCall
{
    /// <summary>The timing to put into a timed call's command; null if the caller does not ask for it.</summary>
    /// <exception cref="RpcException">INVALID_ARGUMENT: the header is not a valid time.</exception>
    public static Timing? Read(ServerCallContext call)
    {
        // Not call.RequestHeaders: that copies every header of every call.
        if (!call.GetHttpContext().Request.Headers.TryGetValue(RequestHeaders.SentAt, out var value))
        {
            return null;
        }
        return StepTimes.TryParseUnixUs(value.ToString(), out var sent)
            ? new Timing { SentUnixUs = sent }
            : throw Failure.BadField(new FieldViolation(
                RequestHeaders.SentAt, "must be whole microseconds since the Unix epoch, e.g. 1769860800000000"));
    }

    /// <summary>Adds the times to the answer, in the trailer <see cref="Trailers.Times"/>.</summary>
    public static void Answer(ServerCallContext call, Command command, Reply reply, long answeredUnixUs) =>
        call.ResponseTrailers.Add(Trailers.Times, Times(command, reply, answeredUnixUs).ToString());

    /// <summary>When the steps of a timed command were taken.</summary>
    public static StepTimes Times(Command command, Reply reply, long answeredUnixUs)
    {
        // A backend that does not support timing leaves it out.
        var backend = reply.Timing ?? new Timing();
        return StepTimes.Of(new Dictionary<string, long>(StringComparer.Ordinal)
        {
            ["sent"] = command.Timing.SentUnixUs,
            ["received"] = command.ReceivedUnixUs,
            ["appended"] = backend.AppendedUnixUs,
            ["consumed"] = backend.ConsumedUnixUs,
            ["decided"] = backend.DecidedUnixUs,
            ["stored"] = backend.StoredUnixUs,
            ["replied"] = backend.RepliedUnixUs,
            ["answered"] = answeredUnixUs,
        });
    }
}
