using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Memory;
using Billing.Proxy.Security;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Calls;

/// <summary>Handles requests of every kind, from whichever front they come: checks one, authorises its
/// caller, admits the call, sends it as a command that expires at the caller's deadline, and turns the reply
/// into an answer or a failure. Requests that have no transaction id get one from <paramref name="newId"/>,
/// or else a random UUID.</summary>
internal sealed class RequestHandler(
    IRequestTransport transport, Admission admission, IOptions<ProxyOptions> options, TimeProvider time,
    SecurityLog? log = null, Func<string>? newId = null)
{
    private readonly ProxyOptions _options = options.Value;
    private readonly Func<string> _newId = newId ?? (() => Guid.NewGuid().ToString());

    /// <summary>Whether the transport stores a command before there is a reply to it, as
    /// <see cref="HandleStoredAsync"/> needs.</summary>
    public bool StoresCommands => transport.Description.StoresCommands;

    /// <summary>Checks a request, authorises its caller, and admits the call.</summary>
    /// <returns>The place of the call; INVALID_ARGUMENT if the request is too large or breaks a rule, PERMISSION_DENIED
    /// if the account is not the caller's, or the failure of <see cref="Admission.Enter"/>.</returns>
    public Outcome<Admission.Admitted> Admit(
        IMessage request, FieldViolation? violation,
        (PaymentType Network, string Id) account, Caller caller, bool isTimed = true) =>
        Refusal(request, violation, account, caller, out var size) is { } refusal
            ? refusal
            : admission.Enter(caller, isTimed, ProxyMemory.PlacesOf(size));

    /// <summary>Takes memory for a page of a statement; dispose of the result when the page is sent.</summary>
    /// <exception cref="FailureException">RESOURCE_EXHAUSTED: the caller reads too few of its pages.</exception>
    public IDisposable HoldPage(IncomingCall call) => admission.HoldPage(call.Caller).Value;

    /// <summary>Handles a call. Its command holds the call's place until its reply or its deadline, and the caller
    /// waits no longer than it is there.</summary>
    /// <exception cref="OperationCanceledException">The caller is gone.</exception>
    public async Task<Outcome<TAnswer>> HandleAsync<TRequest, TAnswer>(
        RequestKind<TRequest, TAnswer> kind, TRequest request, IncomingCall call)
        where TRequest : class, IMessage<TRequest>
        where TAnswer : class
    {
        var admitted = Admit(request, kind.Check(request), kind.AccountOf(request), call.Caller);
        if (admitted.Failure is { } refusal)
        {
            return refusal;
        }
        using var place = admitted.Value;
        return await SendAsync(kind, request, call, place);
    }

    /// <summary>Handles a call of which nobody waits for the answer, only for the command to be stored:
    /// then <paramref name="stored"/> is called with the partition that holds it.</summary>
    public async Task<Outcome<TAnswer>> HandleStoredAsync<TRequest, TAnswer>(
        RequestKind<TRequest, TAnswer> kind, TRequest request, IncomingCall call, Action<int> stored)
        where TRequest : class, IMessage<TRequest>
        where TAnswer : class
    {
        var admitted = Admit(request, kind.Check(request), kind.AccountOf(request), call.Caller);
        if (admitted.Failure is { } refusal)
        {
            return refusal;
        }
        // The place is held until the answer comes, so the same limit applies to requests that nobody waits for.
        using var place = admitted.Value;
        var command = CommandOf(kind, request, call) with { IsQueued = true };
        return AnswerOf(kind, request, command, await transport.SendAsync(command, stored), call);
    }

    /// <summary>Handles one request of a stream, which has a place for it.</summary>
    public async Task<Outcome<TAnswer>> HandleInStreamAsync<TRequest, TAnswer>(
        RequestKind<TRequest, TAnswer> kind, TRequest request, IncomingCall call)
        where TRequest : class, IMessage<TRequest>
        where TAnswer : class
    {
        if (Refusal(request, kind.Check(request), kind.AccountOf(request), call.Caller, out var size) is { } refusal)
        {
            return refusal;
        }
        if (ProxyMemory.PlacesOf(size) is > 1 and var places)
        {
            var more = admission.Widen(call.Caller, places - 1);
            if (more.Failure is { } full)
            {
                return full;
            }
            using var place = more.Value;
            return await AnswerAsync(kind, request, call, place);
        }
        return await AnswerAsync(kind, request, call, place: null);
    }

    /// <summary>Sends a request of an admitted call, and waits for the answer as long as the caller is there.</summary>
    /// <exception cref="OperationCanceledException">The caller is gone.</exception>
    public Task<Outcome<TAnswer>> SendAsync<TRequest, TAnswer>(
        RequestKind<TRequest, TAnswer> kind, TRequest request, IncomingCall call, Admission.Admitted place)
        where TRequest : class, IMessage<TRequest>
        where TAnswer : class
    {
        call.Gone.ThrowIfCancellationRequested();
        return AnswerAsync(kind, request, call, place).WaitAsync(call.Gone);
    }

    private Failure? Refusal(
        IMessage request, FieldViolation? violation, (PaymentType Network, string Id) account, Caller caller,
        out int size)
    {
        size = request.CalculateSize();
        return size > _options.RequestBytesMax
                ? new Failure(StatusCode.InvalidArgument, ErrorReasons.RequestTooLarge,
                    $"The request has {size} bytes; Billing:Proxy:RequestBytesMax allows {_options.RequestBytesMax}.")
            : violation is not null ? Failure.BadField(violation)
            : caller.MayAccess(account.Network, account.Id) ? null
            : NotAllowed(account, caller);
    }

    // The failure does not reveal whether the account exists.
    private Failure NotAllowed((PaymentType Network, string Id) account, Caller caller)
    {
        var failure = new Failure(
            StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed,
            "The caller's token does not include this account.");
        log?.Refused(caller, failure, StreamId.For(account.Network, account.Id));
        return failure;
    }

    // Whether or not the caller still waits, the command holds the call's place until it is answered.
    private async Task<Outcome<TAnswer>> AnswerAsync<TRequest, TAnswer>(
        RequestKind<TRequest, TAnswer> kind, TRequest request, IncomingCall call, Admission.Admitted? place)
        where TRequest : class, IMessage<TRequest>
        where TAnswer : class
    {
        using var held = place?.Hold();
        var command = CommandOf(kind, request, call);
        return AnswerOf(kind, request, command, await transport.SendAsync(command), call);
    }

    private Request CommandOf<TRequest, TAnswer>(
        RequestKind<TRequest, TAnswer> kind, TRequest request, IncomingCall call)
        where TRequest : class, IMessage<TRequest>
        where TAnswer : class
    {
        var now = time.Microseconds();
        var command = Request.Of(
            kind, request, _newId, now, now + WaitMicroseconds(call.Deadline), call.SentUnixUs, call.Caller.Principal);
        return call.Partition is null ? command : command with { Partition = call.Partition };
    }

    private static Outcome<TAnswer> AnswerOf<TRequest, TAnswer>(
        RequestKind<TRequest, TAnswer> kind, TRequest request, Request command, Reply reply, IncomingCall call)
        where TRequest : class, IMessage<TRequest>
        where TAnswer : class
    {
        if (reply.ResultCase == Reply.ResultOneofCase.Error)
        {
            return Failure.From(reply.Error);
        }
        call.Replied?.Invoke(command, reply);
        return kind.AnswerIn(reply) is not { } answer
            ? Failure.InvalidAnswer($"with a reply of the wrong kind ({reply.ResultCase})")
            : kind.ProblemOf(request, answer) is { } problem ? Failure.InvalidAnswer(problem)
            : kind.RepeatIds(request, answer);
    }

    private long WaitMicroseconds(CallerDeadline deadline)
    {
        var asked = deadline.Left is { } left ? left - time.GetElapsedTime(deadline.Since) : _options.DeadlineDefault;
        var wait = asked < _options.DeadlineMax ? asked : _options.DeadlineMax;
        return wait.Ticks / TimeSpan.TicksPerMicrosecond;
    }
}
