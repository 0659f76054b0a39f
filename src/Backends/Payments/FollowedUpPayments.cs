using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Payments.InFlight;

namespace Billing.Backends.Payments;

/// <summary>What has become of the payments that the commands of a batch follow up, such as refunds do;
/// of most batches there are none. Not thread-safe.</summary>
internal sealed class FollowedUpPayments
{
    private static readonly FollowedUpPayments None = new([]);

    private readonly Dictionary<CommandId, PaymentState?> _payments;

    private FollowedUpPayments(Dictionary<CommandId, PaymentState?> payments) => _payments = payments;

    /// <summary>Reads the payments that commands follow up. What is recorded under such an id need
    /// not be a payment.</summary>
    public static ValueTask<FollowedUpPayments> ReadAsync(
        IAccountStore store, List<PendingCommand> commands, CancellationToken cancellationToken) =>
        commands.Exists(command => command.Command.PaymentId is not null)
            ? new(FindAsync(store, commands, cancellationToken))
            : new(None);

    /// <summary>The payment that a command follows up; null if the account has none such,
    /// or it follows up none.</summary>
    public PaymentState? Of(PendingCommand command) =>
        _payments.Count > 0 && IdOf(command) is { } id ? _payments.GetValueOrDefault(id) : null;

    /// <summary>Applies an event that is to be recorded with the batch.</summary>
    public void Apply(string streamId, AccountEvent fact)
    {
        if (_payments.Count == 0)
        {
            return;
        }
        var id = new CommandId(
            fact is PaymentFollowUp { PaymentId: var paymentId } ? paymentId : fact.TransactionId, streamId);
        if (_payments.TryGetValue(id, out var payment))
        {
            _payments[id] = fact is PaymentFollowUp next ? payment!.After(next) : PaymentState.Of(fact);
        }
    }

    private static async Task<FollowedUpPayments> FindAsync(
        IAccountStore store, List<PendingCommand> commands, CancellationToken cancellationToken)
    {
        var wanted = commands.Select(IdOf).OfType<CommandId>().Distinct().ToList();
        var found = await StoredPayment.FindAsync(store, wanted, cancellationToken);
        return new(wanted.ToDictionary(id => id, id => found.GetValueOrDefault(id)?.State));
    }

    private static CommandId? IdOf(PendingCommand command) =>
        command.Command.PaymentId is { } paymentId ? new CommandId(paymentId, command.StreamId) : null;
}
