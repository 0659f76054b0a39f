using System.Diagnostics;
using Billing.Client;
using Billing.V1;

// A shop. The id of an order is also the id of its payment, so that a repeated request is charged once.
var builder = WebApplication.CreateBuilder(args);
builder.Services.AddBillingClient(options => builder.Configuration.GetSection(BillingClientOptions.Section).Bind(options));
var app = builder.Build();

app.MapPut("/orders/{id:guid}/payment", async (Guid id, Order order, IBillingClient billing, HttpContext http) =>
{
    Payment payment;
    try
    {
        payment = new Payment(id, new CardAccount(PaymentType.Visa, order.Account), new Amount(order.Amount, order.Currency));
    }
    catch (ArgumentException e)
    {
        return Results.Problem(e.Message, statusCode: StatusCodes.Status400BadRequest);
    }
    switch (await billing.PayAsync(payment, cancellationToken: http.RequestAborted))
    {
        case PaymentResult.Accepted accepted:
            return Results.Ok(new Receipt("paid", accepted.Balance.Value, accepted.Balance.Currency));
        case PaymentResult.Declined declined:
            return Results.Problem(declined.Message, statusCode: StatusCodes.Status402PaymentRequired);
        case PaymentResult.Rejected { Reason: RejectionReason.IdReused }:
            return Results.Problem("This order is for another amount or account.", statusCode: StatusCodes.Status409Conflict);
        case PaymentResult.Rejected rejected:
            return Results.Problem(rejected.Message, statusCode: StatusCodes.Status502BadGateway);
        case PaymentResult.Unknown unknown:
            http.Response.Headers.RetryAfter = "1";
            return Results.Problem($"{unknown.Message} Send the same order again.", statusCode: StatusCodes.Status503ServiceUnavailable);
        default:
            throw new UnreachableException();
    }
});
app.MapGet("/accounts/{id}/balance", async (string id, IBillingClient billing, CancellationToken cancellationToken) =>
{
    var balance = await billing.GetBalanceAsync(new CardAccount(PaymentType.Visa, id), cancellationToken: cancellationToken);
    return new Receipt("owes", balance.Balance.Value, balance.Balance.Currency);
});

app.Run();

internal sealed record Order(string Account, decimal Amount, string Currency);

internal sealed record Receipt(string State, decimal Balance, string Currency);
