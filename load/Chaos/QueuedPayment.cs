using System.Globalization;
using Billing.Chaos.Rest;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf;
using Timestamp = Google.Protobuf.WellKnownTypes.Timestamp;

namespace Billing.Chaos;

/// <summary>One payment whose caller does not wait: it is sent with <c>Prefer: respond-async</c>, and its Location is
/// followed, through any proxy, until its status is final. What is then said elsewhere must agree with it.</summary>
/// <param name="timeout">How long it may take to execute it.</param>
/// <param name="mayBeLost">Whether the faults delete commands, so that a payment may have no status.</param>
/// <param name="record">Receives what happens.</param>
/// <param name="random">Decides how its JSON is written.</param>
/// <param name="time">The clock.</param>
internal sealed class QueuedPayment(
    MakePaymentRequest payment, TimeSpan timeout, RestProxies proxies, bool mayBeLost, TrafficRecord record,
    Random random, TimeProvider time)
{
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan AnswerTimeout = TimeSpan.FromSeconds(5);

    // What the clocks of caller and services may differ by.
    private static readonly TimeSpan Tolerance = TimeSpan.FromSeconds(1);

    private readonly string _path = "/v1/payments/" + payment.TransactionId;
    private readonly long _sent = time.GetTimestamp();

    /// <summary>Sends it, again if that has no answer or if it was lost, until its status is final.</summary>
    /// <returns>The outcome; null if it failed, because it was not executed in time.</returns>
    /// <exception cref="InvalidDataException">There is an answer that there must not be.</exception>
    public async Task<MakePaymentResponse?> EndAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            var location = await QueueAsync(cancellationToken);
            var (isLost, outcome) = location is null ? Failed() : await FollowAsync(location, cancellationToken);
            if (!isLost)
            {
                return outcome;
            }
        }
    }

    /// <summary>Compares a final status with what a look-up finds, and with the answer to the same payment.</summary>
    /// <exception cref="InvalidDataException">They do not agree, or the payment failed before its deadline.</exception>
    public async Task CheckAsync(MakePaymentResponse? outcome, CancellationToken cancellationToken)
    {
        if (outcome is null)
        {
            var again = await AnswerAsync(
                HttpMethod.Put, _path, PaymentJson.Write(payment, random), AnswerTimeout, cancellationToken);
            Require(
                again is { Status: 409, Reason: ErrorReasons.TransactionIdReused },
                $"FAILED, and the answer to the same payment is {again}");
        }
        var found = await AnswerAsync(
            HttpMethod.Post, $"/v1/transactions/{payment.TransactionId}/lookup",
            PaymentJson.LookUp(payment, random), AnswerTimeout, cancellationToken);
        var entry = found.Only("entry");
        Require(
            outcome is null
                ? found is { Status: 404, Reason: ErrorReasons.TransactionNotFound }
                : found.Status == 200 && Read(entry, "type").Equals(outcome)
                    && Equals(Read<Money>(entry, "amount"), payment.Amount)
                    && Equals(Notes.Of(Read<PaymentNotes>(entry, "notes")), Notes.Of(payment.Notes)),
            $"{outcome?.ToString() ?? "FAILED"}, and a look-up finds {found}");
    }

    // Its Location; null if its id is closed, because an earlier attempt that had no answer was not executed in time.
    private async Task<string?> QueueAsync(CancellationToken cancellationToken)
    {
        var reply = await AnswerAsync(
            HttpMethod.Put, _path, PaymentJson.Write(payment, random), timeout, cancellationToken, isAsync: true);
        if (reply is { Status: 409, Reason: ErrorReasons.TransactionIdReused })
        {
            return null;
        }
        Require(
            reply is { Status: 202, Location: not null } && reply.Text("status") == "PENDING"
                && reply.Text("transaction_id") == payment.TransactionId,
            $"not queued: {reply}");
        return reply.Location;
    }

    private async Task<(bool IsLost, MakePaymentResponse? Outcome)> FollowAsync(
        string location, CancellationToken cancellationToken)
    {
        while (true)
        {
            var reply = await AnswerAsync(HttpMethod.Get, location, null, AnswerTimeout, cancellationToken);
            switch (reply.Status, reply.Text("status"))
            {
                case (200, "PENDING"):
                    await Task.Delay(reply.RetryAfter, time, cancellationToken);
                    break;
                case (200, "FAILED"):
                    Require(reply.Reason == ErrorReasons.CommandExpired, $"failed: {reply}");
                    return Failed();
                case (200, _):
                    return (false, Read(reply, "status"));
                case (404, _) when mayBeLost && reply.Reason == ErrorReasons.PaymentNotFound:
                    return (true, null);
                default:
                    throw Wrong($"the answer to its status is {reply}");
            }
        }
    }

    private (bool IsLost, MakePaymentResponse? Outcome) Failed()
    {
        var after = time.GetElapsedTime(_sent);
        Require(
            after >= timeout - Tolerance,
            $"failed {after.TotalSeconds:0.0} s after it was sent with {timeout.TotalSeconds:0} s to execute it");
        return (false, null);
    }

    // Asks until there is an answer that would be the same again.
    private async Task<RestReply> AnswerAsync(
        HttpMethod method, string path, string? body, TimeSpan wait, CancellationToken cancellationToken,
        bool isAsync = false)
    {
        while (true)
        {
            var reply = await proxies.SendAsync(method, path, body, wait, isAsync, cancellationToken);
            if (reply.Status is not (0 or 429 or 503 or 504))
            {
                return reply;
            }
            record.CountFailure(reply.Status == 0 ? "REST no answer" : $"REST {reply.Status} {reply.Reason}".TrimEnd());
            await Task.Delay(RetryDelay, time, cancellationToken);
        }
    }

    private MakePaymentResponse Read(RestReply reply, string outcome) => new()
    {
        TransactionId = reply.Text("transaction_id") ?? "",
        Outcome = reply.Text(outcome) switch
        {
            "ACCEPTED" or "PAYMENT_ACCEPTED" => PaymentOutcome.Accepted,
            "DECLINED" or "PAYMENT_DECLINED" => PaymentOutcome.Declined,
            _ => throw Wrong($"neither accepted nor declined: {reply}"),
        },
        DeclineReason = reply.Text("decline_reason")?.Replace("_", "", StringComparison.Ordinal) is not { } reason
            ? DeclineReason.Unspecified
            : Enum.TryParse<DeclineReason>(reason, ignoreCase: true, out var known) ? known
            : throw Wrong($"declined for no known reason: {reply}"),
        Balance = Read<Money>(reply, "balance"),
        OnHold = Read<Money>(reply, "on_hold"),
        DecideTime = reply.Text("decide_time") is { } decided ? Timestamp.Parser.ParseJson($"\"{decided}\"") : null,
        Version = long.TryParse(reply.Text("version"), CultureInfo.InvariantCulture, out var version) ? version : 0,
    };

    // Null if it is absent.
    private static T? Read<T>(RestReply reply, string name)
        where T : class, IMessage, new() =>
        reply.Member(name) is { } member ? JsonParser.Default.Parse<T>(member.GetRawText()) : null;

    private void Require(bool holds, string otherwise)
    {
        if (!holds)
        {
            throw Wrong(otherwise);
        }
    }

    private InvalidDataException Wrong(string what) => new($"queued payment {payment.TransactionId} of "
        + $"{StreamId.For(payment.PaymentType, payment.AccountId)}: {what}");
}
