using Billing.Backends.EventStore;
using Billing.Simulation.Books;
using Billing.Simulation.Doors;
using Billing.Simulation.Schedules;
using Billing.V1;

namespace Billing.Simulation.Callers;

/// <content>An account that is emptied and closed.</content>
internal sealed partial class Clients
{
    private const double ThinkingMs = 700;

    // Nobody else makes use of the account but others that do the same, so it is mostly empty when it is to be closed.
    private async Task EmptyAndCloseAsync(Operation operation)
    {
        var dice = new Dice(operation.Seed + 71);
        var payment = PaymentOf(operation, operation.Account);
        var id = new CommandId(operation.TransactionId, Stream(operation.Account));
        var paid = (await CallAsync(operation, 0, Asks.Payment, payment))!;
        model.Paid(id, Contents.Of(payment), paid);
        Know(id.StreamId, paid.Version);
        await Task.Delay(dice.UpTo(ThinkingMs), node.Time);
        await RefundAsync(operation, payment, dice.Id(), operation.Cents, 0);
        await Task.Delay(dice.UpTo(ThinkingMs), node.Time);
        await SetStatusAsync(operation, payment, dice.Id(), AccountStatus.Closed, 50);
        await SetStatusAsync(operation, payment, dice.Id(), AccountStatus.Open, 51);
    }
}
