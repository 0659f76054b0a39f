using System.CommandLine;
using Billing.LocalStack.Processes;
using Billing.Operator.Arguments;

namespace Billing.Cli.Arguments;

/// <summary>The option <c>--cpus</c>: a command and everything that it starts get the processor time of
/// a smaller machine.</summary>
internal static class ProcessorsFlag
{
    private const string Group = "billing-cpus";
    private const double Min = 0.05;

    /// <summary>The option, the same for every command that has it.</summary>
    public static Option<double?> Option { get; } = Flags.Decimal(
        "--cpus",
        "Processors that the command and all that it starts may use together, as on a smaller machine, such as 0.5; "
            + "as root; all by default",
        Min, Environment.ProcessorCount);

    /// <summary>Limits this process and what it starts from now on, if the command line says so.</summary>
    /// <returns>Ends the limit of this process; programs that stay in the background keep theirs.</returns>
    /// <exception cref="StackException">Processor time cannot be limited here.</exception>
    public static IDisposable? Limit(ParseResult parsed)
    {
        if (parsed.GetResult(Option) is null || parsed.GetValue(Option) is not { } processors)
        {
            return null;
        }
        try
        {
            return new Limited(ControlGroup.OfProcessors(Group, $"{Environment.ProcessId}", processors));
        }
        catch (StackException e)
        {
            throw new StackException($"--cpus limits processor time with a control group, as root: {e.Message}", e);
        }
    }

    /// <summary>Removes the groups of programs that have ended.</summary>
    public static void CleanUp() => ControlGroup.RemoveEmpty(Group);

    private sealed class Limited : IDisposable
    {
        private readonly ControlGroup _group;

        public Limited(ControlGroup group)
        {
            _group = group;
            group.Enter();
        }

        public void Dispose()
        {
            _group.Leave();
            CleanUp();
        }
    }
}
