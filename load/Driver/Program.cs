using Billing.Driver;

return await ClientCommand.Create().Parse(args).InvokeAsync();
