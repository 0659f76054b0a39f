using System.CommandLine;
using Spectre.Console;

namespace Billing.Load.Commands;

/// <summary>The commands of <c>./billing</c> that measure.</summary>
internal static class MeasuringCommands
{
    public static IEnumerable<Command> Create(IAnsiConsole console) =>
    [
        TraceCommand.Create(console),
        ReportCommand.Create(console),
    ];
}
