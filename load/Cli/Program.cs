using Billing.Cli.Commands;

return await BillingProgram.RunAsync(args);
