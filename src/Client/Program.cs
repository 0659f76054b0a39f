using Billing.Client.Load;

return await LoadCommand.Create().Parse(args).InvokeAsync();
