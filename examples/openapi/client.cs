#:package Newtonsoft.Json@13.0.4
#:property PublishAot=false

// A payment, a hold, a capture, a refund, a statement, and an error of each kind, with the client that NSwag generates.
using System.Net.Http.Headers;
using Billing.Generated;

var (server, token, readOnly, account) = (args[0], args[1], args[2], args[3]);
var billing = ClientOf(token);
var (payment, hold) = (Guid.NewGuid(), Guid.NewGuid());

var paid = await PayAsync(billing, payment, Dollars(12, 340_000_000));
var again = await PayAsync(billing, payment, Dollars(12, 340_000_000));
var held = await billing.AuthorisePaymentAsync(
    hold, new AuthorisationRequest
    {
        Account_id = account,
        Payment_type = PaymentType.VISA,
        Amount = Dollars(5),
        Hold_duration = "60s",
    });
var captured = await billing.CapturePaymentAsync(
    Guid.NewGuid(),
    new CaptureRequest
    {
        Account_id = account,
        Payment_type = PaymentType.VISA,
        Payment_id = hold,
        Amount = Dollars(3),
        Is_final = true,
    });
var refunded = await RefundAsync(Dollars(2));
var balance = await billing.CheckBalanceAsync(PaymentType.VISA, account, refunded.Version);
var statement = await billing.GetStatementAsync(PaymentType.VISA, account);
var listed = await billing.ListStatementAsync(
    new StatementRequest
    {
        Account_id = account,
        Payment_type = PaymentType.VISA,
        Types = [StatementEntryType.PAYMENT_REFUNDED],
    });
var found = await FindAsync(payment);

Console.WriteLine(Newtonsoft.Json.JsonConvert.SerializeObject(new
{
    paid = paid.Outcome.ToString(),
    again = again.Version == paid.Version,
    held = held.Outcome.ToString(),
    captured = captured.Charged.Units,
    refunded = refunded.Refunded.Units,
    balance = $"{balance.Balance.Units} {balance.Balance.Nanos}",
    entries = statement.Entries.Select(entry => entry.Type.ToString()),
    listed = listed.Entries.Count,
    found = found.Entry.Notes?.Reference,
    badField = await ProblemAsync(PayAsync(billing, Guid.NewGuid(), Dollars(0))),
    noToken = await ProblemAsync(PayAsync(ClientOf(null), Guid.NewGuid(), Dollars(1))),
    noScope = await ProblemAsync(PayAsync(ClientOf(readOnly), Guid.NewGuid(), Dollars(1))),
    notFound = await ProblemAsync(FindAsync(Guid.NewGuid())),
    reused = await ProblemAsync(PayAsync(billing, payment, Dollars(1))),
    tooMuch = await ProblemAsync(RefundAsync(Dollars(100))),
}));

Client ClientOf(string? bearer)
{
    var http = new HttpClient { BaseAddress = new Uri(server) };
    http.DefaultRequestHeaders.Authorization = bearer is null ? null : new AuthenticationHeaderValue("Bearer", bearer);
    return new Client(http);
}

static Amount Dollars(long units, int nanos = 0) =>
    new() { Currency_code = "USD", Units = units.ToString(), Nanos = nanos };

Task<Payment> PayAsync(Client client, Guid id, Amount amount) => client.MakePaymentAsync(
    id, new PaymentRequest
    {
        Account_id = account,
        Payment_type = PaymentType.VISA,
        Amount = amount,
        Notes = new Notes { Reference = "order 7" },
    });

Task<Refund> RefundAsync(Amount amount) => billing.RefundPaymentAsync(
    Guid.NewGuid(),
    new RefundRequest { Account_id = account, Payment_type = PaymentType.VISA, Payment_id = payment, Amount = amount });

Task<Transaction> FindAsync(Guid id) =>
    billing.GetTransactionAsync(
        id, new TransactionLookupRequest { Account_id = account, Payment_type = PaymentType.VISA });

static async Task<string> ProblemAsync(Task call)
{
    try
    {
        await call;
        return "no problem";
    }
    catch (ApiException<Problem> e)
    {
        return string.Join(
            ' ', new[] { $"{e.Result.Status}", e.Result.Reason, e.Result.Field }.Where(part => part is not null));
    }
}
