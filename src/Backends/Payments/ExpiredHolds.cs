using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Payments;

/// <summary>Finds payments with something on hold whose time is over, and sends the command to release it to the owner
/// of each account, which records it in turn with the account's other commands. Every payment backend does this; the
/// event store gives each payment to one of them at a time, and again later if it is still there.</summary>
internal sealed partial class ExpiredHolds(
    IReadOnlyList<IAccountStore> stores, IAnswerPublisher publisher, IOptions<BackendOptions> options,
    Supervisor supervisor, TimeProvider time, ILogger<ExpiredHolds> logger)
    : Worker(supervisor)
{
    private const int TakenMax = 500;

    /// <inheritdoc/>
    public override async Task RunAsync(CancellationToken stopping) =>
        await await Task.WhenAny(stores.Select(store => RunAsync(store, stopping)));

    private async Task RunAsync(IAccountStore store, CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(options.Value.HoldExpiryInterval, time);
        while (await timer.WaitForNextTickAsync(cancellationToken))
        {
            for (var isMore = true; isMore;)
            {
                var asOf = time.GetUtcNow();
                var due = await TakeAsync(store, asOf, cancellationToken);
                if (due.Count > 0 && !await SendAsync(store, due, asOf))
                {
                    await Task.Delay(StoreTimes.HoldNotSent, time, cancellationToken);
                }
                isMore = due.Count == TakenMax;
            }
        }
    }

    private async Task<IReadOnlyList<CommandId>> TakeAsync(
        IAccountStore store, DateTimeOffset asOf, CancellationToken cancellationToken)
    {
        try
        {
            return await store.TakeDueHoldsAsync(asOf, TakenMax, cancellationToken);
        }
        catch (Exception e)
        {
            // A connection that breaks while the process stops is no failure of it.
            cancellationToken.ThrowIfCancellationRequested();
            NotRead(store.Name, e.Message);
            return [];
        }
    }

    private async Task<bool> SendAsync(IAccountStore store, IReadOnlyList<CommandId> due, DateTimeOffset asOf)
    {
        try
        {
            // One that cannot be sent does not keep the others back.
            await Task.WhenAll(due.Select(async payment => await publisher.SendAsync(CommandOf(payment, asOf))));
            return true;
        }
        catch (Exception e)
        {
            NotSent(due.Count, store.Name, e.Message);
            return false;
        }
    }

    private Command CommandOf(CommandId payment, DateTimeOffset asOf)
    {
        var (typeName, account) = StreamId.Split(payment.StreamId)!.Value;
        FieldRules.TryReadPaymentType(typeName, out var type);
        return new Command
        {
            TransactionId = Guid.CreateVersion7(time.GetUtcNow()).ToString(),
            ReceivedUnixUs = time.Microseconds(),
            Expiry = new HoldExpiry
            {
                AccountId = account,
                PaymentType = type,
                PaymentId = payment.TransactionId.ToString(),
                AsOfUnixUs = UnixTime.Microseconds(asOf),
            },
        };
    }

    [LoggerMessage(
        226, LogLevel.Warning,
        "Holds whose time is over cannot be read from the database {Database} at present: {Reason}")]
    private partial void NotRead(string database, string reason);

    [LoggerMessage(
        227, LogLevel.Warning,
        "{Count} holds of the database {Database} whose time is over are not released yet; "
            + "they are tried again: {Reason}")]
    private partial void NotSent(int count, string database, string reason);
}
