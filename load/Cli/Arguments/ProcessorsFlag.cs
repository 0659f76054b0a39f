using System.CommandLine;
using System.Globalization;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Arguments;

/// <summary>The option <c>--cpus</c>: a command and everything that it starts get the processor time of a smaller machine.</summary>
internal static class ProcessorsFlag
{
    private const string Group = "billing-cpus";
    private const double Min = 0.05;

    /// <summary>The option, the same for every command that has it.</summary>
    public static Option<double> Option { get; } = Create();

    /// <summary>Limits this process and what it starts from now on, if the command line says so.</summary>
    /// <returns>Ends the limit of this process; programs that stay in the background keep theirs.</returns>
    /// <exception cref="StackException">Processor time cannot be limited here.</exception>
    public static IDisposable? Limit(ParseResult parsed)
    {
        if (parsed.GetResult(Option) is not { Implicit: false })
        {
            return null;
        }
        try
        {
            return new Limited(ControlGroup.OfProcessors(Group, $"{Environment.ProcessId}", parsed.GetValue(Option)));
        }
        catch (StackException e)
        {
            throw new StackException($"--cpus limits processor time with a control group, as root: {e.Message}", e);
        }
    }

    /// <summary>Removes the groups of programs that have ended.</summary>
    public static void CleanUp() => ControlGroup.RemoveEmpty(Group);

    private static Option<double> Create()
    {
        var max = Environment.ProcessorCount;
        return new Option<double>("--cpus")
        {
            Description = "Processors that the command and all that it starts may use together, as on a smaller machine, such as 0.5; as root; all by default",
            HelpName = "N",
            CustomParser = result =>
            {
                var text = result.Tokens[0].Value;
                if (!double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var value) || value < Min || value > max)
                {
                    result.AddError(string.Create(CultureInfo.InvariantCulture, $"--cpus must be between {Min} and the {max} processors of this machine; it is {text}."));
                }
                return value;
            },
        };
    }

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
