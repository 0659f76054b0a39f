using Billing.Cli.Commands;
using Billing.Rehearsal;

return await BillingProgram.RunAsync(args, console => [RehearseCommand.Create(console)]);
