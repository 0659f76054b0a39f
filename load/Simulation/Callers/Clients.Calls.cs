using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Simulation.Books;
using Billing.Simulation.Doors;
using Billing.Simulation.Schedules;
using Billing.Simulation.Services;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Simulation.Callers;

/// <content>How clients call: by one door or the other, in letters of their own, at one
/// proxy after the other.</content>
internal sealed partial class Clients
{
    private static readonly Door[] Doors = Enum.GetValues<Door>();
    private static readonly Door[] OneProxyDoors = [Door.Rest, Door.Grpc];
    private static readonly Letters[] AllLetters = Enum.GetValues<Letters>();

    /// <summary>Retries until there is an answer.</summary>
    /// <param name="operation">The operation.</param>
    /// <param name="copy">The number of the call in the operation.</param>
    /// <param name="ask">The kind of request.</param>
    /// <param name="request">The request.</param>
    /// <param name="isFinal">Whether a refusal is an answer, too.</param>
    /// <returns>The answer, with ids in small letters; null if the request was refused for good.</returns>
    private Task<TAnswer?> CallAsync<TRequest, TAnswer>(
        Operation operation, int copy, Ask<TRequest, TAnswer> ask,
        TRequest request, Func<Failure, bool>? isFinal = null)
        where TRequest : class, IMessage<TRequest>, new()
        where TAnswer : class, IMessage<TAnswer>, new() =>
        RetryAsync(
            operation, copy,
            (dice, proxy, deadline) => TryAsync(operation, dice, proxy, deadline, ask, request, isFinal));

    /// <summary>Makes a call once.</summary>
    private async Task<Tried<TAnswer>> TryAsync<TRequest, TAnswer>(
        Operation operation, Dice dice, ProxyNode proxy, TimeSpan deadline, Ask<TRequest, TAnswer> ask,
        TRequest request, Func<Failure, bool>? isFinal)
        where TRequest : class, IMessage<TRequest>, new()
        where TAnswer : class, IMessage<TAnswer>, new()
    {
        var letters = dice.Pick(AllLetters);
        var sent = letters.Write(request);
        var attempt = ask.IsWrite ? model.Asked(request, deadline) : null;
        var door = dice.Pick(operation.Kind == OperationKind.PayInTurn ? OneProxyDoors : Doors);
        var tried = await TryAsync(
            operation, proxy, deadline, attempt,
            () => door == Door.Sdk
                ? Sdk.CallAsync(ask, sent, deadline)
                : proxy.CallAsync(ask, door, sent, dice.Pick(AllLetters), deadline),
            isFinal);
        ReferenceModel.Require(
            tried.Answer is null || tried.Answer.Repeats(sent),
            $"ids were sent as in {sent} and came back as in {tried.Answer}");
        return tried.Answer is null ? tried : tried with { Answer = Letters.Small.Write(tried.Answer) };
    }

    private async Task<Tried<TAnswer>> TryAsync<TAnswer>(
        Operation operation, ProxyNode proxy, TimeSpan deadline, Attempt? attempt, Func<Task<TAnswer>> call,
        Func<Failure, bool>? isFinal, TimeSpan sentWithin = default)
        where TAnswer : class
    {
        var began = scheduler.Now;
        try
        {
            var answer = await call();
            CheckWait(began, deadline + sentWithin);
            trace.Write(proxy.Node.Name, "answered", operation.TransactionId);
            return new Tried<TAnswer>(answer, IsOver: true);
        }
        catch (FailureException e)
        {
            CheckWait(began, deadline + sentWithin);
            return new Tried<TAnswer>(
                null, IsOver: Check(operation, proxy, began, deadline, attempt, e.Failure, isFinal));
        }
    }

    // Returns whether the refusal is the answer.
    private bool Check(
        Operation operation, ProxyNode proxy, long began, TimeSpan deadline, Attempt? attempt,
        Failure failure, Func<Failure, bool>? isFinal)
    {
        trace.Write(proxy.Node.Name, failure.Status.ToString(), operation.TransactionId);
        if (failure.Status == StatusCode.AlreadyExists && attempt is not null)
        {
            ReferenceModel.Require(
                failure.Reason == ErrorReasons.TransactionIdReused, $"{operation} ended with {failure}");
            model.Taken(attempt);
            return true;
        }
        if (isFinal?.Invoke(failure) == true)
        {
            if (attempt is not null)
            {
                attempt.WasRefusedForNow = failure.Reason is ErrorReasons.AccountNotEmpty
                    or ErrorReasons.PaymentNotFound;
                model.NothingChanged(attempt);
            }
            return true;
        }
        HasAskedAgain = true;
        ReferenceModel.Require(
            failure.Status != StatusCode.DeadlineExceeded || scheduler.Now - began >= (deadline - Early).Ticks,
            $"{operation} was told {failure} {TimeSpan.FromTicks(scheduler.Now - began)} after it asked");
        ReferenceModel.Require(
            failure.Status is StatusCode.Unavailable or StatusCode.DeadlineExceeded or StatusCode.ResourceExhausted,
            $"{operation} ended with {failure}");
        if (failure.Reason == ErrorReasons.CommandExpired && attempt is not null)
        {
            model.NothingChanged(attempt);
        }
        return false;
    }

    // One proxy after the other, and each time with more patience.
    private async Task<TAnswer?> RetryAsync<TAnswer>(
        Operation operation, int copy, Func<Dice, ProxyNode, TimeSpan, Task<Tried<TAnswer>>> call)
        where TAnswer : class
    {
        var dice = new Dice(operation.Seed + copy);
        for (var tries = 0; ; tries++)
        {
            // The card network alone may take a second.
            var deadline = TimeSpan.FromMilliseconds(
                Math.Min(operation.DeadlineMs << Math.Min(tries, 10), DeadlineMaxMs));
            var tried = await call(dice, Next(), deadline);
            if (tried.IsOver)
            {
                return tried.Answer;
            }
            await PauseAsync(dice);
        }
    }

    private ProxyNode Next() => proxies()[_turn++ % proxies().Count];

    private Task PauseAsync(Dice dice) =>
        Task.Delay(dice.Between(TimeSpan.FromMilliseconds(20), TimeSpan.FromMilliseconds(400)), node.Time);

    private void CheckWait(long began, TimeSpan deadline)
    {
        var waited = TimeSpan.FromTicks(scheduler.Now - Math.Max(began, FrozenUntil));
        ReferenceModel.Require(waited <= deadline + Late, $"a call with a deadline of {deadline} took {waited}");
    }

    /// <summary>What a call has led to.</summary>
    /// <param name="Answer">The answer, if there is one.</param>
    /// <param name="IsOver">Whether there is nothing more to ask.</param>
    private readonly record struct Tried<TAnswer>(TAnswer? Answer, bool IsOver)
        where TAnswer : class;
}
