using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Simulation.Store;
using Billing.V1;
using Google.Protobuf;

namespace Billing.Simulation.Books;

/// <summary>One time that a client has sent a request.</summary>
/// <param name="Id">The request's id, and its account.</param>
/// <param name="Contents">What it asks for.</param>
/// <param name="SentAt">The moment when it was sent.</param>
/// <param name="Deadline">The moment when its caller waits no more, by the clock of the client.</param>
/// <param name="IsQueued">Whether its caller prefers not to wait.</param>
internal sealed record Attempt(CommandId Id, Contents Contents, long SentAt, long Deadline, bool IsQueued)
{
    /// <summary>Whether its caller was told that nothing was changed.</summary>
    public bool IsOver { get; set; }

    /// <summary>Whether it was refused for what the account was like then, which may pass.</summary>
    public bool WasRefusedForNow { get; set; }
}

/// <content>What was asked, how often, and what each caller was told: whoever was told that nothing was changed,
/// and did not send the request again, must not have changed anything.</content>
internal sealed partial class ReferenceModel
{
    private readonly Dictionary<CommandId, List<Attempt>> _attempts = [];
    private readonly Dictionary<CommandId, (Contents Contents, long At)> _recorded = [];
    private readonly HashSet<(CommandId, Contents)> _refused = [];

    /// <summary>By how much a machine may take a command to be expired later than another one, in ticks;
    /// null if all clocks agree.</summary>
    public long? ClocksDiffer { get; init; }

    /// <summary>Whether the schedule's faults excuse that a payment was not executed before a moment.</summary>
    public Func<long, bool> IsExcused { get; init; } = _ => true;

    /// <summary>Whether the schedule's faults delete commands.</summary>
    public bool MayLoseCommands { get; init; }

    /// <summary>Whether the schedule's faults have commands delivered again. Nothing is stored of a refusal, so a
    /// command that was refused for what its account was like then may be executed when it comes again.</summary>
    public bool MayRepeat { get; init; }

    /// <summary>Notes that a request is sent.</summary>
    public Attempt Asked(IMessage request, TimeSpan deadline, bool isQueued = false)
    {
        var id = IdOf(request);
        if (!_attempts.TryGetValue(id, out var attempts))
        {
            _attempts[id] = attempts = [];
        }
        var attempt = new Attempt(id, Contents.Of(request), _now(), _now() + deadline.Ticks, isQueued);
        attempts.Add(attempt);
        return attempt;
    }

    /// <summary>Notes that a caller was told that nothing was changed, and that nothing will be by
    /// what it has sent.</summary>
    public void NothingChanged(Attempt attempt)
    {
        attempt.IsOver = true;
        RequireReason(attempt.Id, attempt.Contents);
    }

    /// <summary>Checks that a request was rightly told that its id is taken: something else is recorded under it,
    /// or it was closed, which only happens to a payment that nobody waited for.</summary>
    public void Taken(Attempt attempt)
    {
        NothingChanged(attempt);
        Require(
            IsClosed(attempt.Id)
                ? IsOverdue(attempt.Id)
                : RecordedOf(attempt.Id) is { } recorded && recorded != attempt.Contents,
            $"{attempt.Contents} was told that its id is taken; recorded is "
                + $"{RecordedOf(attempt.Id)?.ToString() ?? "nothing"}");
    }

    /// <summary>Checks the status FAILED of a payment that was taken with 202: it is not recorded, and never will be;
    /// its deadline has passed, and nobody could execute it until then.</summary>
    public void Failed(Attempt attempt, string reason)
    {
        Require(
            reason is ErrorReasons.CommandExpired or ErrorReasons.ProcessingFailed, $"a payment failed with {reason}");
        Require(IsClosed(attempt.Id), $"a payment was called failed, and may still be charged: {attempt.Contents}");
        // Under a shared id, the deadline of another one that nobody waits for ends the id, too.
        Require(IsOverdue(attempt.Id), $"a payment was called failed before its deadline: {attempt.Contents}");
        Require(
            attempt.Deadline - attempt.SentAt < LongWait.Ticks || IsExcused(attempt.Deadline),
            $"a payment was called failed although it could be executed before its deadline: {attempt.Contents}");
        NothingChanged(attempt);
        _refused.Add((attempt.Id, attempt.Contents));
    }

    /// <summary>Checks that a status was rightly not found: the command was lost.</summary>
    /// <param name="attempt">The payment.</param>
    /// <param name="asked">The moment of the question. What is recorded since may be another
    /// request under the id.</param>
    public void Lost(Attempt attempt, long asked) => Require(
        MayLoseCommands && !(_recorded.TryGetValue(attempt.Id, out var recorded) && recorded.At < asked),
        $"a payment that was taken was not found: {attempt.Contents}");

    /// <summary>How much earlier than its deadline a command may be taken to be expired, in ticks.</summary>
    public long EarlyBy { get; init; }

    // From so long a wait on, only a fault keeps a payment from being executed.
    private static readonly TimeSpan LongWait = TimeSpan.FromSeconds(15);

    // Called with each event as it is stored.
    private void Record(Stored stored)
    {
        if (Contents.Of(stored.Fact) is { } contents)
        {
            _recorded.TryAdd(Id(stored), (contents, _now()));
            RequireReason(Id(stored), contents);
        }
    }

    // What is recorded was asked for by somebody who was not told otherwise.
    private void RequireReason(CommandId id, Contents contents)
    {
        if (_recorded.TryGetValue(id, out var recorded) && recorded.Contents == contents)
        {
            Require(
                _attempts.TryGetValue(id, out var attempts)
                    && attempts.Exists(
                        a => a.Contents == contents && a.SentAt <= recorded.At && MayChange(a, recorded.At)),
                $"{contents} is recorded in {id.StreamId}, and everybody who asked for it was told that "
                    + "nothing was changed");
        }
    }

    // The next owner of a partition, whose clock is behind, may still execute what the former one took to be expired.
    private bool MayChange(Attempt attempt, long at) =>
        !attempt.IsOver || (ClocksDiffer is { } by && at <= attempt.Deadline + by)
        || (attempt.WasRefusedForNow && MayRepeat && at <= attempt.Deadline);

    private bool IsClosed(CommandId id) => store.IsClosed(id);

    private bool IsOverdue(CommandId id) => _attempts[id].Exists(a => a.IsQueued && _now() >= a.Deadline - EarlyBy);

    private Contents? RecordedOf(CommandId id) =>
        _recorded.TryGetValue(id, out var recorded) ? recorded.Contents : null;

    private bool WasAsked(CommandId id, Contents contents) =>
        _attempts.TryGetValue(id, out var attempts) && attempts.Exists(a => a.Contents == contents);

    /// <summary>The id of a request, with its account.</summary>
    public static CommandId IdOf(IMessage request)
    {
        var (type, account) = AccountOf(request);
        return new(Guid.Parse((string)Value(request, "transaction_id")), StreamId.For(type, account));
    }

    /// <summary>The account of a request.</summary>
    public static (PaymentType Type, string Id) AccountOf(IMessage request) =>
        ((PaymentType)Value(request, "payment_type"), (string)Value(request, "account_id"));

    private static object Value(IMessage message, string name) =>
        message.Descriptor.FindFieldByName(name).Accessor.GetValue(message);
}
