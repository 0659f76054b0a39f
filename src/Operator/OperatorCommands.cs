using System.CommandLine;
using Billing.Operator.Audits;
using Billing.Operator.Brokers;
using Billing.Operator.Credentials;
using Billing.Operator.DeadLetters;
using Billing.Operator.Doctor;
using Billing.Operator.Exports;
using Billing.Operator.Store;
using Billing.Operator.Webhooks;
using Spectre.Console;

namespace Billing.Operator;

/// <summary>The table of the operators' commands. Help, dispatch and completion follow from it, here and in
/// <c>./billing</c>.</summary>
internal static class OperatorCommands
{
    /// <summary>Creates the commands, in the order in which help lists them.</summary>
    public static IReadOnlyList<Command> Create(IAnsiConsole console) =>
    [
        DoctorCommand.Create(),
        AuditCommand.Create(console),
        VerifyCommand.Create(console),
        ExportCommand.Create(console),
        DeadLettersCommand.Create(console),
        WebhooksCommand.Create(console),
        ShardsCommand.Create(console),
        RebuildCommand.Create(console),
        SchemaCommand.Create(console),
        TopicsCommand.Create(console),
        RestoredCommand.Create(console),
        ReplayCommand.Create(console),
        CredentialsCommand.Create(console),
        TokenCommand.Create(),
    ];

    /// <summary>Creates the command line of the operators' program.</summary>
    public static RootCommand CreateRoot(IAnsiConsole console)
    {
        var root = new RootCommand("The operators' commands of a billing platform that runs.");
        foreach (var command in Create(console))
        {
            root.Add(command);
        }
        return root;
    }
}
