using Billing.Misuse;

return await AttackerProgram.RunAsync(args);
