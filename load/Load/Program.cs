using Billing.Cli.Commands;
using Billing.Load.Commands;

return await BillingProgram.RunAsync(args, MeasuringCommands.Create);
