using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging.Requests;
using Billing.Proxy.Failures;
using Billing.Proxy.Security;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Proxy.Calls;

/// <summary>What a front knows of a call besides its request. When the caller is gone, a command that was sent
/// is still processed.</summary>
internal sealed record IncomingCall(Caller Caller, CallerDeadline Deadline, CancellationToken Gone)
{
    /// <summary>When the client sent the request, in microseconds since the Unix epoch, if the caller asks for the
    /// times of its steps; null otherwise.</summary>
    public long? SentUnixUs { get; init; }

    /// <summary>The partition that holds what the request has to follow; null if that is the
    /// one of its account.</summary>
    public int? Partition { get; init; }

    /// <summary>Where the answer goes; null where nobody waits for it to be sent.</summary>
    public HttpResponse? Response { get; init; }

    /// <summary>Called with the reply of a backend, before it becomes an answer;
    /// null if nobody is interested.</summary>
    public Action<Request, Reply>? Replied { get; init; }

    // A gRPC call without a deadline has DateTime.MaxValue. The server states deadlines by the machine's wall clock,
    // which may have been adjusted since this process started; the time left is the same on every clock.
    public static IncomingCall Of(ServerCallContext context, TimeProvider time) => new(
        Caller.Of(context.GetHttpContext()),
        new CallerDeadline(
            time.GetTimestamp(),
            context.Deadline == DateTime.MaxValue ? null : context.Deadline - time.WallClock().GetUtcNow().UtcDateTime),
        context.CancellationToken)
    {
        Response = context.GetHttpContext().Response,
    };

    /// <summary>A gRPC call that is timed if its caller sends <see cref="RequestHeaders.SentAt"/>: then it is told when
    /// each step was taken, in the trailer <see cref="Trailers.Times"/>.</summary>
    /// <exception cref="FailureException">INVALID_ARGUMENT: the header is not a valid time.</exception>
    public static IncomingCall TimedOf(ServerCallContext context, TimeProvider time)
    {
        var call = Of(context, time);
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
            Replied = (request, reply) =>
                context.ResponseTrailers.Add(Trailers.Times, TimesOf(request, reply, time.Microseconds()).ToString()),
        };
    }

    /// <summary>When the steps of a timed request were taken.</summary>
    public static StepTimes TimesOf(Request request, Reply reply, long answeredUnixUs)
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

/// <summary>How long a caller waits.</summary>
/// <param name="Since">When the deadline was read: a timestamp of the services' <see cref="TimeProvider"/>.</param>
/// <param name="Left">The time that was left until the deadline then; null if the caller gave none, so that each
/// command waits for <see cref="ProxyOptions.DeadlineDefault"/>.</param>
internal readonly record struct CallerDeadline(long Since, TimeSpan? Left);
