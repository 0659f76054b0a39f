using System.CommandLine;
using Spectre.Console;

namespace Billing.Cli.Commands.Measurements;

/// <summary>The commands of <c>./billing</c> that measure.</summary>
internal static class MeasuringCommands
{
    public static IEnumerable<Command> Create(IAnsiConsole console) =>
    [
        LoadCommand.Create(console),
        TraceCommand.Create(console),
        SweepCommand.Create(console),
        CompareCommand.Create(console),
        ReportCommand.Create(console),
        CompareRpcCommand.CreateServer(),
    ];
}
