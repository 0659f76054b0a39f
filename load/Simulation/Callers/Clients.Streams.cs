using Billing.Simulation.Books;
using Billing.Simulation.Doors;
using Billing.Simulation.Schedules;
using Billing.Simulation.Services;
using Billing.V1;

namespace Billing.Simulation.Callers;

/// <content>Payments on streams. What a stream leaves without an answer is made again by single calls,
/// under the same ids.</content>
internal sealed partial class Clients
{
    private const double PauseMs = 20;

    // How long a proxy waits for the answer to each payment of a stream.
    private static readonly TimeSpan StreamWait = Settings.Proxy.Value.DeadlineDefault;

    /// <summary>The payments that were made in turn: their account and their transaction ids in the order
    /// of their requests.</summary>
    public List<(string StreamId, List<string> TransactionIds)> InTurn { get; } = [];

    // Three payments, on a stream or by calls through one proxy, without waiting for answers in between.
    private Task PayInTurnAsync(Operation operation)
    {
        var dice = new Dice(operation.Seed);
        var payments = Enumerable.Range(0, 3)
            .Select(_ => operation with { TransactionId = dice.Id(), Seed = dice.Seed() }).ToList();
        InTurn.Add((Stream(operation.Account), payments.ConvertAll(p => p.TransactionId.ToString())));
        if (operation.Seed % 2 == 0)
        {
            return PayAllAsync(operation, payments, dice);
        }
        var turn = _turn++;
        return Task.WhenAll(payments.Select(payment =>
        {
            _turn = turn;
            return PayAsync(payment, payment.Account, 0);
        }).ToList());
    }

    // So many small payments that the account has hundreds of events.
    private Task PayManyAsync(Operation operation)
    {
        var dice = new Dice(operation.Seed);
        var payments = Enumerable.Range(0, dice.Between(60, 250))
            .Select(_ => operation with { TransactionId = dice.Id(), Seed = dice.Seed(), Cents = dice.Between(1, 20) })
            .ToList();
        return PayAllAsync(operation, payments, dice);
    }

    private async Task PayAllAsync(Operation operation, List<Operation> payments, Dice dice)
    {
        var requests = payments.ConvertAll(payment => PaymentOf(payment, payment.Account));
        var sent = requests.ConvertAll(request => dice.Pick(AllLetters).Write(request));
        var attempts = requests.ConvertAll(request => model.Asked(request, StreamWait));
        var (pauses, proxy) = (dice.Chance(0.5), Next());
        var stream = new PaymentsStream(
            sent, () => pauses ? Task.Delay(dice.UpTo(PauseMs), node.Time) : Task.CompletedTask);
        var open = proxy.StreamAsync(stream);
        await Task.WhenAll(payments.Select((payment, i) => AnsweredAsync(
            payment, requests[i], stream.Answer(sent[i]), attempts[i], proxy,
            TimeSpan.FromMilliseconds(payments.Count * PauseMs))).ToList());
        await open;
        trace.Write(proxy.Node.Name, "ends a stream", operation.TransactionId);
    }

    private async Task AnsweredAsync(
        Operation payment, MakePaymentRequest request, Task<MakePaymentResponse> answer,
        Attempt attempt, ProxyNode proxy, TimeSpan sentWithin)
    {
        var tried = await TryAsync(payment, proxy, StreamWait, attempt, () => answer, null, sentWithin);
        var paid = tried.IsOver ? tried.Answer : await CallAsync(payment, 0, Asks.Payment, request);
        if (paid is not null)
        {
            model.Paid(attempt.Id, attempt.Contents, Letters.Small.Write(paid));
            Know(attempt.Id.StreamId, paid.Version);
        }
    }
}
