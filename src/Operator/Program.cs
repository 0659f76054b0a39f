using Billing.Operator;
using Billing.Operator.Arguments;

return await CommandProgram.RunAsync(OperatorCommands.CreateRoot, args);
