using Billing.Client;

// A shop. The id of an order is also the id of its payment, so that a repeated request is charged once.
var builder = WebApplication.CreateBuilder(args);
builder.Services.AddBillingClient(builder.Configuration.GetSection(BillingClientOptions.Section));
var app = builder.Build();

app.MapPut("/orders/{id:guid}/payment", async (Guid id, Order order, BillingClient billing, HttpContext http) =>
{
    Payment payment;
    try
    {
        payment = new Payment(
            id, new CardAccount(CardNetwork.Visa, order.Account), new Amount(order.Amount, order.Currency));
    }
    catch (ArgumentException e)
    {
        return Results.Problem(e.Message, statusCode: StatusCodes.Status400BadRequest);
    }
    var outcome = await billing.PayAsync(payment, cancellationToken: http.RequestAborted);
    return outcome.Match(
        accepted: answer => Results.Ok(new Receipt("paid", answer.Balance.Value, answer.Balance.Currency)),
        declined: decline => Results.Problem(decline.Message, statusCode: StatusCodes.Status402PaymentRequired),
        rejected: rejection => rejection.Reason == RejectionReason.IdReused
            ? Results.Problem("This order is for another amount or account.", statusCode: StatusCodes.Status409Conflict)
            : Results.Problem(rejection.Message, statusCode: StatusCodes.Status502BadGateway),
        unknown: unknown =>
        {
            http.Response.Headers.RetryAfter = "1";
            return Results.Problem(
                $"{unknown.Message} Send the same order again.", statusCode: StatusCodes.Status503ServiceUnavailable);
        });
});
app.MapGet("/accounts/{id}/balance", async (string id, BillingClient billing, CancellationToken cancellationToken) =>
{
    var balance = await billing.GetBalanceAsync(
        new CardAccount(CardNetwork.Visa, id), cancellationToken: cancellationToken);
    return new Receipt("owes", balance.Balance.Value, balance.Balance.Currency);
});

app.Run();

internal sealed record Order(string Account, decimal Amount, string Currency);

internal sealed record Receipt(string State, decimal Balance, string Currency);
