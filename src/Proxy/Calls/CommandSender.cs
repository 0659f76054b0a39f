using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Calls;

/// <summary>Checks requests, sends them to the backends as commands that expire at the caller's deadline, and waits for the
/// replies.</summary>
public sealed class CommandSender(
    IRequestTransport transport, IOptions<ProxyOptions> options, TimeProvider time, Live.LiveWatch? watch = null)
{
    private readonly ProxyOptions _options = options.Value;

    /// <summary>Refuses a request that is too large or breaks a rule.</summary>
    /// <exception cref="RpcException">INVALID_ARGUMENT.</exception>
    public void Check(IMessage request, FieldViolation? violation)
    {
        var size = request.CalculateSize();
        if (size > _options.RequestBytesMax)
        {
            throw Failure.Create(StatusCode.InvalidArgument, ErrorReasons.RequestTooLarge,
                $"The request has {size} bytes; Billing:Proxy:RequestBytesMax allows {_options.RequestBytesMax}.");
        }
        if (violation is not null)
        {
            throw Failure.BadField(violation);
        }
    }

    /// <summary>How long a call's caller waits.</summary>
    public CallerDeadline DeadlineOf(ServerCallContext call)
    {
        // A call without a deadline has DateTime.MaxValue. The server states deadlines by the machine's wall clock, which may
        // have been adjusted since this process started; the time left is the same on every clock.
        TimeSpan? left = call.Deadline == DateTime.MaxValue
            ? null
            : call.Deadline - time.WallClock().GetUtcNow().UtcDateTime;
        return new CallerDeadline(time.GetTimestamp(), left);
    }

    /// <summary>Sends a command and waits for its reply, until its deadline.</summary>
    /// <param name="command">The command; its time of receipt and its deadline are set here.</param>
    /// <param name="deadline">How long the command may take.</param>
    /// <returns>A reply that is not an error.</returns>
    /// <exception cref="RpcException">The error that the backend or the transport answered.</exception>
    public async Task<Reply> SendAsync(Command command, CallerDeadline deadline) => Checked(await ReplyAsync(command, deadline));

    /// <summary>Sends a command of an admitted call and waits for its reply as long as the caller does. The command holds the
    /// call's place until its reply or its deadline.</summary>
    /// <param name="command">The command; its time of receipt and its deadline are set here.</param>
    /// <param name="deadline">How long its caller waits.</param>
    /// <param name="place">The place of the call.</param>
    /// <param name="callerGone">Cancelled when the caller is gone; a command that was sent is still processed.</param>
    /// <returns>A reply that is not an error.</returns>
    /// <exception cref="RpcException">The error that the backend or the transport answered.</exception>
    /// <exception cref="OperationCanceledException">The caller is gone.</exception>
    public async Task<Reply> SendAsync(
        Command command, CallerDeadline deadline, Admission.Admitted place, CancellationToken callerGone)
    {
        callerGone.ThrowIfCancellationRequested();
        return Checked(await HoldingAsync(place, command, deadline).WaitAsync(callerGone));
    }

    /// <summary>Whether the transport reports that it has accepted a command, before there is a reply.</summary>
    public bool IsQueued => transport is IQueuedTransport;

    /// <summary>Sends a command and waits for its reply, whether or not its caller still does. Requires <see cref="IsQueued"/>.
    /// </summary>
    /// <param name="command">The command; its time of receipt and its deadline are set here.</param>
    /// <param name="deadline">How long the command may take.</param>
    /// <param name="queued">Called once the transport has accepted the command.</param>
    /// <returns>A reply that is not an error.</returns>
    /// <exception cref="RpcException">The error that the backend or the transport answered.</exception>
    public async Task<Reply> SendQueuedAsync(Command command, CallerDeadline deadline, Action queued)
    {
        Stamp(command, deadline);
        return Checked(await ((IQueuedTransport)transport).SendAsync(command, queued));
    }

    private async Task<Reply> HoldingAsync(Admission.Admitted place, Command command, CallerDeadline deadline)
    {
        using var held = place.Hold();
        return await ReplyAsync(command, deadline);
    }

    private Task<Reply> ReplyAsync(Command command, CallerDeadline deadline)
    {
        Stamp(command, deadline);
        return watch?.Record is { } record
            ? record.SendAsync(transport, command)
            : transport.SendAsync(command);
    }

    private void Stamp(Command command, CallerDeadline deadline)
    {
        var now = time.Microseconds();
        command.ReceivedUnixUs = now;
        command.DeadlineUnixUs = now + WaitMicroseconds(deadline);
    }

    private static Reply Checked(Reply reply) =>
        reply.ResultCase == Reply.ResultOneofCase.Error ? throw Failure.From(reply.Error) : reply;

    private long WaitMicroseconds(CallerDeadline deadline)
    {
        var asked = deadline.Left is { } left ? left - time.GetElapsedTime(deadline.Since) : _options.DeadlineDefault;
        var wait = asked < _options.DeadlineMax ? asked : _options.DeadlineMax;
        return wait.Ticks / TimeSpan.TicksPerMicrosecond;
    }
}
