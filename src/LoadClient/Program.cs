using Billing.LoadClient;

return await LoadCommand.Create().Parse(args).InvokeAsync();
