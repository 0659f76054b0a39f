using System.Globalization;
using Billing.Client;

// Pays once: Billing.Examples.Console http://localhost:5000 acct-42 12.34
if (args is not [var proxies, var accountId, var value]
    || !decimal.TryParse(value, CultureInfo.InvariantCulture, out var amount))
{
    Console.Error.WriteLine("Usage: Billing.Examples.Console PROXY[,PROXY...] ACCOUNT AMOUNT");
    return 2;
}

var options = new BillingClientOptions { Deadline = TimeSpan.FromSeconds(10) };
foreach (var proxy in proxies.Split(','))
{
    options.Proxies.Add(proxy);
}
using var billing = new BillingClient(options);

var account = new CardAccount(CardNetwork.Visa, accountId);
var payment = new Payment(account, new Amount(amount, "USD"));
var outcome = await billing.PayAsync(payment);
for (var attempts = 1; outcome.Unknown is { } unknown && attempts < 3; attempts++)
{
    await Task.Delay(unknown.RetryAfter ?? TimeSpan.FromSeconds(1));
    // The same payment has the same id: it is charged once, whatever the outcome of the earlier attempts.
    outcome = await billing.PayAsync(payment);
}

Console.WriteLine(outcome.Match(
    accepted: answer => $"accepted: {account} owes {answer.Balance}",
    declined: decline => $"declined: {decline.Message}",
    rejected: rejection => $"rejected: {rejection.Message}",
    unknown: unknown => $"unknown: {unknown.Message}; retry with the id {payment.Id}"));
if (outcome.Accepted is { } paid)
{
    // A balance that includes this payment, not an earlier one.
    var balance = await billing.GetBalanceAsync(account, minVersion: paid.Version);
    Console.WriteLine($"available: {balance.Available}");
}
await foreach (var line in billing.ReadStatementAsync(account))
{
    Console.WriteLine($"{line.Version} {line.Type} {line.Amount}, owes {line.Balance}");
}
return outcome.Accepted is null ? 1 : 0;
