using System.Globalization;
using System.Text.Json;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Hostile records on the topic of a proxy's replies, as its callers over gRPC and REST meet them.</summary>
public sealed class ReplyFuzz
{
    [Fact]
    public async Task A_record_of_replies_leads_to_an_answer_or_to_an_error_of_the_contract()
    {
        var batch = Array.Empty<byte>();
        await using var proxy = await FuzzedProxy.StartAsync(request => Answer(request, batch));
        using var http = new HttpClient { BaseAddress = proxy.Host.Rest };
        await new Fuzz("replies", Corpus.Replies, Corpus.Words, tries: 1_500).RunAsync(async value =>
        {
            batch = value;
            var reply = FirstReply(value);
            var asked = reply?.ResultCase ?? Reply.ResultOneofCase.Payment;
            // One in eight calls is of another kind than the reply.
            var hash = value.Aggregate(0u, (sum, b) => sum + b);
            asked = hash % 8 == 0 ? (Reply.ResultOneofCase)(10 + (hash % 6)) : asked;
            var id = reply is not null && IdOf(reply) is { } named && Guid.TryParse(named, out _)
                ? named
                : Samples.TransactionId;
            var outcome = hash % 2 == 0 ? await OverGrpcAsync(proxy, asked, id) : await OverRestAsync(http, asked, id);
            proxy.AssertNoFaults();
            return $"{asked} {hash % 2} {outcome}";
        });
        await proxy.EndAsync();
    }

    private static async Task<string> OverGrpcAsync(FuzzedProxy proxy, Reply.ResultOneofCase asked, string id)
    {
        var payment = Samples.Payment();
        payment.TransactionId = id;
        try
        {
            switch (asked)
            {
                case Reply.ResultOneofCase.Balance:
                    await proxy.Host.Client.CheckBalanceAsync(Samples.Balance());
                    break;
                case Reply.ResultOneofCase.BalanceAt:
                    await proxy.Host.Client.GetBalanceAtAsync(
                        new() { AccountId = "a", PaymentType = PaymentType.Visa, Version = 1 });
                    break;
                case Reply.ResultOneofCase.Statement when id[0] % 2 == 0:
                    await proxy.Host.Client.ListStatementAsync(new()
                    {
                        AccountId = "a",
                        PaymentType = PaymentType.Visa,
                        Types_ = { StatementEntryType.PaymentAccepted },
                    });
                    break;
                case Reply.ResultOneofCase.CreditLimit:
                    await proxy.Host.Admin.SetCreditLimitAsync(new()
                    {
                        TransactionId = id,
                        AccountId = "a",
                        PaymentType = PaymentType.Visa,
                        Limit = Samples.Dollars(1),
                    });
                    break;
                case Reply.ResultOneofCase.Statement:
                    // The same page would be answered again and again.
                    using (var entries = proxy.Host.Client.StreamStatement(
                        new() { AccountId = "a", PaymentType = PaymentType.Visa, PageSize = 3 }))
                    {
                        while (await entries.ResponseStream.MoveNext(CancellationToken.None))
                        {
                        }
                    }
                    break;
                case Reply.ResultOneofCase.PaymentStatus:
                    using (var stream = proxy.Host.Client.MakePayments())
                    {
                        await stream.RequestStream.WriteAsync(payment);
                        await stream.RequestStream.CompleteAsync();
                        Assert.True(await stream.ResponseStream.MoveNext(CancellationToken.None));
                        Assert.NotEqual(ErrorReasons.Unforeseen, stream.ResponseStream.Current.Error?.Reason);
                    }
                    break;
                default:
                    await proxy.Host.Client.MakePaymentAsync(payment);
                    break;
            }
            return "answered";
        }
        catch (RpcException e)
        {
            // The library of the client sets it when what came was no answer.
            Assert.Null(e.Status.DebugException);
            Assert.NotNull(e.Reason());
            return e.StatusCode.ToString();
        }
    }

    private static async Task<string> OverRestAsync(HttpClient http, Reply.ResultOneofCase asked, string id)
    {
        using var answer = asked switch
        {
            Reply.ResultOneofCase.Balance => await http.GetAsync("/v1/accounts/VISA/a/balance"),
            Reply.ResultOneofCase.BalanceAt => await http.PostAsync(
                "/v1/balances/lookup",
                Json("""{"account_id":"a","payment_type":"VISA","time":"2026-01-31T12:00:00Z"}""")),
            Reply.ResultOneofCase.Statement when id[0] % 2 == 0 => await http.PostAsync(
                "/v1/statements/lookup",
                Json("""{"account_id":"a","payment_type":"VISA","end_time":"2026-01-31T12:00:00Z"}""")),
            Reply.ResultOneofCase.Statement => await http.GetAsync("/v1/accounts/VISA/a/statement?page_size=3"),
            Reply.ResultOneofCase.CreditLimit => await http.PutAsync(
                "/v1/accounts/VISA/a/credit-limit",
                Json($$$"""{"transaction_id":"{{{id}}}","limit":{"currency_code":"USD","units":1}}""")),
            Reply.ResultOneofCase.PaymentStatus => await http.GetAsync(
                $"/v1/payments/{id}/status?link={StatusLink.Of(new(Samples.Payment()) { TransactionId = id }, 0)}"),
            _ => await http.PutAsync(
                "/v1/payments/" + id,
                Json("""{"account_id":"acct-42","payment_type":"visa","amount":{"currency_code":"USD","units":10}}""")),
        };
        using var body = JsonDocument.Parse(await answer.Content.ReadAsByteArrayAsync());
        Assert.True(
            answer.IsSuccessStatusCode || body.RootElement.TryGetProperty("reason", out _),
            body.RootElement.GetRawText());
        return ((int)answer.StatusCode).ToString(CultureInfo.InvariantCulture);
    }

    private static StringContent Json(string text) =>
        new(text, new System.Net.Http.Headers.MediaTypeHeaderValue("application/json"));

    private static string? IdOf(Reply reply) =>
        (reply.Payment ?? reply.PaymentStatus?.Payment)?.TransactionId ?? reply.CreditLimit?.TransactionId;

    private static Reply? FirstReply(byte[] value)
    {
        try
        {
            return ReplyBatch.Parser.ParseFrom(value).Replies.FirstOrDefault();
        }
        catch (InvalidProtocolBufferException)
        {
            return null;
        }
    }

    // As if the record came while the call waits; a call that it does not answer has waited too long.
    private static Reply Answer(Request request, byte[] batch)
    {
        var lastId = 0UL;
        using var pending = new PendingReplies(TimeProvider.System, () => ++lastId);
        var (id, reply) = pending.Register(request);
        new ReplyReader(pending, NullLogger.Instance).Take(batch);
        pending.Complete(Replies.NoAnswerInTime(id));
        return reply.Result;
    }
}
