using System.Globalization;
using Billing.Client;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.Chaos;

/// <summary>What people do with payments after they are made, until each request has an answer: amounts are put on hold, captured and voided by
/// several callers at the same time or left to expire, and given back. Every request is sent again with its id until it is answered, and
/// some are sent twice at once. When all of a payment is answered, the payment must show the sum of the answers.</summary>
internal sealed class PaymentLives(BillingClient client, string accountPrefix, int accounts, TrafficRecord record, TimeProvider time, CancellationToken giveUp)
{
    private const int CentsMax = 5_000;
    private static readonly int[] HoldSeconds = [1, 5, 30, 0];
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    private int _completed;

    /// <summary>Number of payments that are authorised and all of whose requests are answered.</summary>
    public int Completed => Volatile.Read(ref _completed);

    /// <summary>Lives until there is enough, and to the end of the lives that have begun.</summary>
    public Task RunAsync(int callers, int seed, CancellationToken enough) =>
        Task.WhenAll(Enumerable.Range(0, callers).Select(caller => Task.Run(() => RunAsync(new Random(seed + caller), enough), CancellationToken.None)));

    private async Task RunAsync(Random random, CancellationToken enough)
    {
        try
        {
            while (!enough.IsCancellationRequested)
            {
                await LiveAsync(random);
                await Task.Delay(Pause, time, giveUp);
            }
        }
        catch (OperationCanceledException)
        {
            record.Violations.Enqueue("what became of a payment has no answer");
        }
    }

    private async Task LiveAsync(Random random)
    {
        var cents = random.Next(1, CentsMax);
        var hold = new AuthorisePaymentRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = string.Create(CultureInfo.InvariantCulture, $"{accountPrefix}{random.Next(accounts)}"),
            PaymentType = PaymentTypes.All[random.Next(PaymentTypes.All.Count)],
            Amount = Dollars(cents),
            HoldSeconds = HoldSeconds[random.Next(HoldSeconds.Length)],
        };
        if ((await AnswersAsync(random, token => client.AuthorisePaymentAsync(hold, token)))?.Outcome != PaymentOutcome.Accepted)
        {
            return;
        }
        var captures = Enumerable.Range(0, random.Next(4)).Select(_ => CaptureAsync(random, hold, random.Next(1, cents + 1))).ToList();
        var voided = random.Next(4) == 0 ? VoidAsync(random, hold) : Task.CompletedTask;
        var charged = (await Task.WhenAll(captures)).Sum();
        await voided;
        var refunds = Enumerable.Range(0, random.Next(3)).Select(_ => RefundAsync(random, hold, random.Next(1, cents + 1)));
        var refunded = (await Task.WhenAll(refunds.ToList())).Sum();
        await CheckAsync(hold, charged, refunded);
        Interlocked.Increment(ref _completed);
    }

    private async Task<decimal> CaptureAsync(Random random, AuthorisePaymentRequest hold, int cents)
    {
        var request = new CapturePaymentRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = hold.AccountId,
            PaymentType = hold.PaymentType,
            PaymentId = hold.TransactionId,
            Amount = Dollars(cents),
            IsFinal = random.Next(4) == 0,
        };
        return (await AnswersAsync(random, token => client.CapturePaymentAsync(request, token)))?.Amount.ToDecimal() ?? 0;
    }

    private async Task VoidAsync(Random random, AuthorisePaymentRequest hold)
    {
        var request = new VoidPaymentRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = hold.AccountId,
            PaymentType = hold.PaymentType,
            PaymentId = hold.TransactionId,
        };
        await AnswersAsync(random, token => client.VoidPaymentAsync(request, token));
    }

    private async Task<decimal> RefundAsync(Random random, AuthorisePaymentRequest hold, int cents)
    {
        var request = new RefundPaymentRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = hold.AccountId,
            PaymentType = hold.PaymentType,
            PaymentId = hold.TransactionId,
            Amount = Dollars(cents),
        };
        return (await AnswersAsync(random, token => client.RefundPaymentAsync(request, token)))?.Amount.ToDecimal() ?? 0;
    }

    private async Task CheckAsync(AuthorisePaymentRequest hold, decimal charged, decimal refunded)
    {
        var request = new GetPaymentRequest { TransactionId = hold.TransactionId, AccountId = hold.AccountId, PaymentType = hold.PaymentType };
        var found = await AnswerAsync(token => client.GetPaymentAsync(request, token));
        if (found is null || (found.Charged.ToDecimal(), found.Refunded.ToDecimal()) != (charged, refunded))
        {
            record.Violations.Enqueue(string.Create(
                CultureInfo.InvariantCulture, $"{charged} captured and {refunded} given back were answered of {hold.TransactionId}; found is {found}"));
        }
    }

    // One in ten requests is sent twice at the same time; both get the same answer, unless one of them comes too late to be recorded.
    private async Task<T?> AnswersAsync<T>(Random random, Func<CancellationToken, Task<T>> call)
        where T : class
    {
        var answers = await Task.WhenAll(Enumerable.Range(0, random.Next(10) == 0 ? 2 : 1).Select(_ => AnswerAsync(call)));
        if (answers.Length > 1 && !Equals(answers[0], answers[1]))
        {
            record.Violations.Enqueue($"different answers to the same request: {answers[0]} and {answers[1]}");
        }
        return answers[0];
    }

    /// <summary>The answer; null if the request is refused.</summary>
    private async Task<T?> AnswerAsync<T>(Func<CancellationToken, Task<T>> call)
        where T : class
    {
        while (true)
        {
            try
            {
                return await call(giveUp);
            }
            catch (RpcException e) when (BillingClient.Reason(e) is ErrorReasons.NotOnHold or ErrorReasons.AmountTooLarge)
            {
                return null;
            }
            catch (RpcException e)
            {
                giveUp.ThrowIfCancellationRequested();
                record.CountFailure($"{e.StatusCode} {BillingClient.Reason(e)}".TrimEnd());
            }
            await Task.Delay(RetryDelay, time, giveUp);
        }
    }

    private static Money Dollars(int cents) => (cents / 100m).ToMoney("USD");
}
