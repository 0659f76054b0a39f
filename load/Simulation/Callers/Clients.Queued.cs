using System.Text.Json;
using Billing.Proxy.Failures;
using Billing.Simulation.Books;
using Billing.Simulation.Doors;
using Billing.Simulation.Schedules;
using Billing.Simulation.Services;
using Billing.V1;
using Grpc.Core;

namespace Billing.Simulation.Callers;

/// <content>Payments whose callers do not wait: they follow the Location of the answer 202, as it is,
/// until the status is final.</content>
internal sealed partial class Clients
{
    // How long the status route waits if its caller does not say.
    private static readonly TimeSpan StatusWait = TimeSpan.FromSeconds(1);

    private async Task PayAndLeaveAsync(Operation operation)
    {
        var request = PaymentOf(operation, operation.Account);
        var dice = new Dice(operation.Seed + 83);
        var wait = TimeSpan.FromMilliseconds(dice.Chance(0.4) ? operation.DeadlineMs : dice.Pick([20_000, 30_000]));
        if (await TakeAsync(operation, request, dice, wait) is not { } taken)
        {
            await PayAsync(operation, operation.Account, 0);
            return;
        }
        // Some send it once more without waiting, some ask twice at the same time, some make it as well and
        // wait for the answer.
        var shape = operation.Seed % 4;
        var links = new List<QueuedPayment> { taken };
        if ((shape == 1 ? await TakeAsync(operation, request, dice, wait) : shape == 2 ? taken : null) is { } another)
        {
            links.Add(another);
        }
        var made = shape == 3 ? CallAsync(operation, 2, Asks.Payment, request) : null;
        await Task.WhenAll(links.Select((link, copy) => FollowAsync(operation, request, link, copy)));
        if (made is not null && await made is { } late)
        {
            model.Paid(taken.Attempt.Id, taken.Attempt.Contents, late);
        }
    }

    // Follows a link until the status is final, and then sends a payment that failed once more: it is refused.
    private async Task FollowAsync(Operation operation, MakePaymentRequest request, QueuedPayment payment, int copy)
    {
        var status = await RetryAsync(operation, copy, (dice, proxy, _) => AskAsync(operation, dice, proxy, payment));
        var (id, contents) = (payment.Attempt.Id, payment.Attempt.Contents);
        if (status?.Payment is { } answer)
        {
            model.Paid(id, contents, answer);
            Know(id.StreamId, answer.Version);
        }
        else if (status is not null)
        {
            model.Failed(payment.Attempt, status.FailedBecause);
            var again = await CallAsync(operation, 3, Asks.Payment, request);
            ReferenceModel.Require(again is null, "a payment that was called failed was sent again and answered");
            await LookUpAsync(operation, request);
        }
    }

    // Asks once what has become of a payment.
    private async Task<Tried<PaymentFate>> AskAsync(
        Operation operation, Dice dice, ProxyNode proxy, QueuedPayment payment)
    {
        var wait = dice.Chance(0.5) ? TimeSpan.Zero : TimeSpan.FromMilliseconds(dice.Between(100, DeadlineMaxMs));
        var (ask, asked) = (new RestAsk("GET", payment.Link, TimeoutMs: (int)wait.TotalMilliseconds), scheduler.Now);
        var tried = await TryAsync(
            operation, proxy, wait == TimeSpan.Zero ? StatusWait : wait, attempt: null, () => AnswerAsync(proxy, ask),
            refusal => IsNone(refusal, payment.Attempt, asked));
        if (tried.Answer is not { } answer)
        {
            return new Tried<PaymentFate>(null, tried.IsOver);
        }
        ReferenceModel.Require(answer.Status == 200, $"a question for a status was answered with {answer.Status}");
        var fate = FateOf(answer.Body, payment.TransactionId);
        return new Tried<PaymentFate>(fate, fate is not null);
    }

    // The command was lost, or another request is recorded.
    private bool IsNone(Failure refusal, Attempt attempt, long asked)
    {
        if (refusal.Status == StatusCode.NotFound)
        {
            model.Lost(attempt, asked);
            return true;
        }
        if (refusal.Status == StatusCode.AlreadyExists)
        {
            model.Taken(attempt);
            return true;
        }
        return false;
    }

    // Sends a payment without waiting for its answer.
    private async Task<QueuedPayment?> TakeAsync(
        Operation operation, MakePaymentRequest payment, Dice dice, TimeSpan deadline)
    {
        var (proxy, sent) = (Next(), dice.Pick(AllLetters).Write(payment));
        var ask = Asks.QueuedPayment(sent, dice.Pick(AllLetters)) with { TimeoutMs = (int)deadline.TotalMilliseconds };
        var attempt = model.Asked(payment, deadline, isQueued: true);
        var tried = await TryAsync(operation, proxy, deadline, attempt, () => AnswerAsync(proxy, ask), isFinal: null);
        if (tried.Answer is not { } answer)
        {
            return null;
        }
        using var body = JsonDocument.Parse(answer.Body);
        ReferenceModel.Require(
            answer.Status == 202 && RestJson.Text(body.RootElement, "transaction_id") == sent.TransactionId
            && RestJson.Text(body.RootElement, "status") == "PENDING"
            && RestJson.Text(body.RootElement, "status_url") == answer.Location,
            $"{sent} was sent not to be waited for, and answered with {answer}");
        return new QueuedPayment(attempt, sent.TransactionId, answer.Location);
    }

    private static async Task<RestAnswer> AnswerAsync(ProxyNode proxy, RestAsk ask)
    {
        var answer = await proxy.CallAsync(ask);
        return answer.Status < 300 ? answer : throw new FailureException(RestJson.FailureOf(answer));
    }

    // What has become of a payment; null if that is not known yet.
    private static PaymentFate? FateOf(string json, string transactionId)
    {
        using var body = JsonDocument.Parse(json);
        var status = RestJson.Text(body.RootElement, "status");
        ReferenceModel.Require(
            RestJson.Text(body.RootElement, "transaction_id") == transactionId,
            $"the status of {transactionId} was answered as {json}");
        if (status is "PENDING")
        {
            return null;
        }
        if (status is "FAILED")
        {
            return new PaymentFate(null, RestJson.Text(body.RootElement, "reason"));
        }
        var payment = RestJson.Read<MakePaymentResponse>(
            json.Replace("\"status\":", "\"outcome\":", StringComparison.Ordinal));
        // A status is that of a payment that was recorded before.
        payment.Replayed = true;
        return new PaymentFate(Letters.Small.Write(payment), "");
    }

    /// <summary>A payment that was taken with 202.</summary>
    /// <param name="Attempt">What was asked for.</param>
    /// <param name="TransactionId">Its id, as it was sent.</param>
    /// <param name="Link">The Location of its status.</param>
    private sealed record QueuedPayment(Attempt Attempt, string TransactionId, string Link);

    /// <summary>What has become of a payment.</summary>
    /// <param name="Payment">The answer to it; null if it failed.</param>
    /// <param name="FailedBecause">Why it failed.</param>
    private sealed record PaymentFate(MakePaymentResponse? Payment, string FailedBecause);
}
