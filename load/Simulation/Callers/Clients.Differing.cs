using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Simulation.Books;
using Billing.Simulation.Doors;
using Billing.Simulation.Schedules;
using Billing.V1;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Simulation.Callers;

/// <content>Requests under one id that differ: in amount, in notes, in kind. Some wait long, some briefly, some not at
/// all; some come again until they have an answer, some never.</content>
internal sealed partial class Clients
{
    /// <summary>The ids, in small letters, under which different requests were made.</summary>
    public HashSet<string> Shared { get; } = new(StringComparer.Ordinal);

    private async Task PayDifferingAsync(Operation operation)
    {
        var dice = new Dice(operation.Seed + 97);
        Shared.Add(operation.TransactionId.ToString());
        var (span, isLate) = (dice.Pick([20, 500, 3000]), dice.Chance(0.5));
        // Of those that come late, the first one waits briefly and never comes again, and the others
        // come as it gives up.
        var first = operation with { DeadlineMs = dice.Pick([100, 200, 400]) };
        await Task.WhenAll(Enumerable.Range(0, dice.Between(2, 7)).Select(number =>
        {
            var own = new Dice(operation.Seed + 101 + number);
            return !isLate ? DifferAsync(operation, own, number, own.UpTo(span))
                : number > 0 ? DifferAsync(
                    operation, own, number, TimeSpan.FromMilliseconds(first.DeadlineMs) + own.UpTo(60))
                : OneAsync(
                    first, Asks.Payment, PaymentOf(first, first.Account), comesAgain: false, null,
                    (contents, answer) => model.Paid(IdOf(first), contents, answer));
        }).ToList());
    }

    private static CommandId IdOf(Operation operation) => new(operation.TransactionId, Stream(operation.Account));

    private async Task DifferAsync(Operation operation, Dice dice, int number, TimeSpan after)
    {
        await Task.Delay(after, node.Time);
        var payment = PaymentOf(operation, operation.Account);
        payment.Amount = ((operation.Cents + (dice.Chance(0.3) ? 0 : number)) / 100m).ToMoney(operation.Currency);
        payment.Notes = dice.Chance(0.3)
            ? new PaymentNotes { Reference = "other", Metadata = { ["number"] = "1" } }
            : payment.Notes;
        var mine = operation with { DeadlineMs = dice.Pick([100, 300, 1000, 3000]), Seed = dice.Seed() };
        var comesAgain = dice.Chance(0.4);
        var id = IdOf(operation);
        switch (dice.Next(10))
        {
            case 0:
                var limit = new SetCreditLimitRequest
                {
                    TransactionId = payment.TransactionId,
                    AccountId = payment.AccountId,
                    PaymentType = payment.PaymentType,
                    Limit = (operation.Cents / 20m).ToMoney(operation.Currency),
                };
                await OneAsync(
                    mine, Asks.CreditLimit, limit, comesAgain,
                    refusal => IsLimitRefused(refusal, id.StreamId, operation.Currency),
                    (contents, answer) => model.Limited(id, contents, answer));
                break;
            case 1:
                var hold = new AuthorisePaymentRequest
                {
                    TransactionId = payment.TransactionId,
                    AccountId = payment.AccountId,
                    PaymentType = payment.PaymentType,
                    Amount = payment.Amount,
                    HoldDuration = new() { Seconds = 2 },
                    Notes = payment.Notes,
                };
                await OneAsync(
                    mine, Asks.Authorise, hold, comesAgain, null,
                    (contents, answer) => model.Authorised(id, contents, answer));
                break;
            case 2 or 3:
                var paymentId = dice.Id();
                var refund = new RefundPaymentRequest
                {
                    TransactionId = payment.TransactionId,
                    AccountId = payment.AccountId,
                    PaymentType = payment.PaymentType,
                    PaymentId = paymentId.ToString(),
                    Amount = payment.Amount,
                    Notes = payment.Notes,
                };
                await OneAsync(
                    mine, Asks.Refund, refund, comesAgain, refusal => IsRefundRefused(refusal, refund, id),
                    (contents, answer) => model.Refunded(id, contents, id with { TransactionId = paymentId }, answer));
                break;
            case 4 or 5:
                if (await TakeAsync(mine, payment, dice, TimeSpan.FromMilliseconds(mine.DeadlineMs)) is { } taken)
                {
                    await FollowAsync(mine, payment, taken, 0);
                }
                break;
            default:
                await OneAsync(
                    mine, Asks.Payment, payment, comesAgain, null,
                    (contents, answer) => model.Paid(id, contents, answer));
                break;
        }
    }

    private async Task OneAsync<TRequest, TAnswer>(
        Operation operation, Ask<TRequest, TAnswer> ask, TRequest request, bool comesAgain,
        Func<Failure, bool>? isFinal, Action<Contents, TAnswer> check)
        where TRequest : class, IMessage<TRequest>, new()
        where TAnswer : class, IMessage<TAnswer>, new()
    {
        var answer = comesAgain ? await CallAsync(operation, 0, ask, request, isFinal)
            : (await TryAsync(
                operation, new Dice(operation.Seed), Next(),
                TimeSpan.FromMilliseconds(operation.DeadlineMs), ask, request, isFinal)).Answer;
        if (answer is not null)
        {
            check(Contents.Of(request), answer);
        }
    }

    private bool IsLimitRefused(Failure refusal, string streamId, string currency)
    {
        if (refusal.Status == StatusCode.FailedPrecondition)
        {
            model.LimitRefused(streamId, currency);
            return true;
        }
        return false;
    }

    private bool IsRefundRefused(Failure refusal, RefundPaymentRequest request, CommandId id)
    {
        if (refusal.Status is StatusCode.FailedPrecondition or StatusCode.NotFound)
        {
            model.RefundRefused(
                id, Contents.Of(request), id with { TransactionId = Guid.Parse(request.PaymentId) },
                ReferenceModel.Decimal(request.Amount), refusal.Reason);
            return true;
        }
        return false;
    }
}
