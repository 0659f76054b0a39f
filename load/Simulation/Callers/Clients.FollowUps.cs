using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Simulation.Books;
using Billing.Simulation.Doors;
using Billing.Simulation.Schedules;
using Billing.V1;
using Grpc.Core;

namespace Billing.Simulation.Callers;

/// <content>What clients do with payments after they are made.</content>
internal sealed partial class Clients
{
    // An account is frozen or closed by two at the same time, and reopened. What others do with it meanwhile is
    // declined, or makes that it is not closed.
    private async Task FreezeAsync(Operation operation, MakePaymentRequest payment)
    {
        var dice = new Dice(operation.Seed + 61);
        var (change, reopening, both) = (dice.Id(), dice.Id(), dice.Chance(0.5));
        var status = dice.Pick([AccountStatus.Frozen, AccountStatus.Closed]);
        await Task.WhenAll(
            SetStatusAsync(operation, payment, change, status, 40),
            both ? SetStatusAsync(operation, payment, change, status, 41) : Task.CompletedTask);
        await SetStatusAsync(operation, payment, reopening, AccountStatus.Open, 42);
    }

    private async Task SetStatusAsync(
        Operation operation, MakePaymentRequest payment, Guid transactionId, AccountStatus status, int copy)
    {
        var request = new SetAccountStatusRequest
        {
            TransactionId = transactionId.ToString(),
            AccountId = payment.AccountId,
            PaymentType = payment.PaymentType,
            AccountStatus = status,
            Notes = NotesOf(transactionId.ToString()),
        };
        var id = new CommandId(transactionId, StreamId.For(payment.PaymentType, payment.AccountId));
        var since = model.VersionOf(id.StreamId);
        if (await CallAsync(
            operation, copy, Asks.AccountStatus, request,
            refusal => refusal.Status == StatusCode.FailedPrecondition) is { } answer)
        {
            model.StatusSet(id, Contents.Of(request), answer);
            Know(id.StreamId, answer.Version);
            await MayLookUpAsync(operation, request);
        }
        else
        {
            model.StatusRefused(id.StreamId, status, since);
        }
    }

    // An amount is put on hold, captured and released by several at the same time, or left to expire.
    private async Task HoldAsync(Operation operation, MakePaymentRequest payment)
    {
        var dice = new Dice(operation.Seed + 31);
        var (cents, currency) = (1 + dice.Next(3_000), payment.Amount.CurrencyCode);
        var request = new AuthorisePaymentRequest
        {
            TransactionId = dice.Id().ToString(),
            AccountId = payment.AccountId,
            PaymentType = payment.PaymentType,
            Amount = (cents / 100m).ToMoney(currency),
            HoldDuration = new() { Seconds = dice.Pick([1, 3, 10]) },
        };
        request.Notes = NotesOf(request.TransactionId);
        var stream = StreamId.For(payment.PaymentType, payment.AccountId);
        var id = new CommandId(Guid.Parse(request.TransactionId), stream);
        model.Authorised(id, Contents.Of(request), (await CallAsync(operation, 20, Asks.Authorise, request))!);
        var work = new List<Task> { MayLookUpAsync(operation, request) };
        for (var captures = dice.Next(4); captures > 0; captures--)
        {
            work.Add(
                CaptureAsync(operation, request, dice.Id(), 1 + dice.Next(cents), dice.Chance(0.3), 20 + captures));
        }
        if (dice.Chance(0.3))
        {
            work.Add(VoidAsync(operation, request, dice.Id()));
        }
        await Task.WhenAll(work);
    }

    private async Task CaptureAsync(
        Operation operation, AuthorisePaymentRequest hold, Guid transactionId, int cents, bool isFinal, int copy)
    {
        var request = new CapturePaymentRequest
        {
            TransactionId = transactionId.ToString(),
            AccountId = hold.AccountId,
            PaymentType = hold.PaymentType,
            PaymentId = hold.TransactionId,
            Amount = (cents / 100m).ToMoney(hold.Amount.CurrencyCode),
            IsFinal = isFinal,
            Notes = NotesOf(transactionId.ToString()),
        };
        var (id, payment) = Ids(hold, transactionId);
        if (await CallAsync(
            operation, copy, Asks.Capture, request,
            refusal => IsRefused(refusal, id, Contents.Of(request), payment, cents / 100m)) is { } answer)
        {
            model.Captured(id, Contents.Of(request), payment, answer);
            await MayLookUpAsync(operation, request);
        }
    }

    private async Task VoidAsync(Operation operation, AuthorisePaymentRequest hold, Guid transactionId)
    {
        var request = new VoidPaymentRequest
        {
            TransactionId = transactionId.ToString(),
            AccountId = hold.AccountId,
            PaymentType = hold.PaymentType,
            PaymentId = hold.TransactionId,
        };
        var (id, payment) = Ids(hold, transactionId);
        if (await CallAsync(
            operation, 30, Asks.Void, request,
            refusal => IsRefused(refusal, id, Contents.Of(request), payment, 0)) is { } answer)
        {
            model.Voided(id, Contents.Of(request), payment, answer);
            await MayLookUpAsync(operation, request);
        }
    }

    private bool IsRefused(Failure refusal, CommandId id, Contents contents, CommandId payment, decimal amount)
    {
        if (refusal.Status != StatusCode.FailedPrecondition)
        {
            return false;
        }
        model.HoldRefused(id, contents, payment, amount, refusal.Reason);
        return true;
    }

    private static (CommandId Id, CommandId Payment) Ids(AuthorisePaymentRequest hold, Guid transactionId)
    {
        var stream = StreamId.For(hold.PaymentType, hold.AccountId);
        return (new CommandId(transactionId, stream), new CommandId(Guid.Parse(hold.TransactionId), stream));
    }

    // Several refunds at the same time, which are more than the payment together, and the first of them twice.
    private async Task RefundAsync(Operation operation, MakePaymentRequest payment)
    {
        var dice = new Dice(operation.Seed + 17);
        var cents = (int)(ReferenceModel.Decimal(payment.Amount) * 100);
        var refunds = Enumerable.Range(0, 3).Select(_ => (Id: dice.Id(), Cents: 1 + dice.Next(cents))).ToList();
        await Task.WhenAll(refunds.Append(refunds[0])
            .Select((refund, copy) => RefundAsync(operation, payment, refund.Id, refund.Cents, copy)));
    }

    private async Task RefundAsync(
        Operation operation, MakePaymentRequest payment, Guid transactionId, int cents, int copy)
    {
        var request = new RefundPaymentRequest
        {
            TransactionId = transactionId.ToString(),
            AccountId = payment.AccountId,
            PaymentType = payment.PaymentType,
            PaymentId = payment.TransactionId,
            Amount = (cents / 100m).ToMoney(payment.Amount.CurrencyCode),
            Notes = NotesOf(transactionId.ToString()),
        };
        var id = new CommandId(transactionId, StreamId.For(payment.PaymentType, payment.AccountId));
        var paid = id with { TransactionId = operation.TransactionId };
        var answer = await CallAsync(
            operation, 5 + copy, Asks.Refund, request, refusal => IsRefundRefused(refusal, request, id));
        if (answer is not null)
        {
            model.Refunded(id, Contents.Of(request), paid, answer);
            Know(id.StreamId, answer.Version);
            await MayLookUpAsync(operation, request);
        }
    }
}
