using System.CommandLine;
using System.CommandLine.Parsing;
using Billing.Cli.Arguments;
using Billing.Measuring;
using Billing.Operator.Arguments;

namespace Billing.Cli.Commands.Measurements;

/// <summary>The common options of all measurements: the system to measure, and the folder of the results.</summary>
internal sealed class SystemFlags
{
    private readonly StackFlags _stack = new();
    private readonly bool _usesEventStore;
    private readonly Option<string[]> _targets;
    private readonly Option<string?> _out;

    /// <param name="results">The files in the folder of results.</param>
    /// <param name="usesEventStore">Whether <c>--postgres</c> is the event store of the targets,
    /// if targets are given.</param>
    public SystemFlags(string results = "result.json and report.html", bool usesEventStore = false)
    {
        _usesEventStore = usesEventStore;
        _targets = ListFlags.Addresses(
            "--targets", "Addresses of running proxies, to use instead of starting a stack"
                + (usesEventStore ? " (--postgres then names their event store)" : ""));
        _out = MeasurementFlags.Folder(results);
    }

    public void AddTo(Command command)
    {
        command.Add(_targets);
        command.Add(_out);
        _stack.AddTo(command);
        command.Validators.Add(result =>
        {
            if (HasTargets(result) && StackOptionOf(result) is { } useless)
            {
                result.AddError(
                    $"{useless} applies to a stack that the command starts; with --targets it starts none.");
            }
        });
    }

    /// <summary>Whether proxies that run already are given.</summary>
    public bool HasTargets(CommandResult result) => result.GetResult(_targets) is { Implicit: false };

    /// <param name="parsed">The command line.</param>
    /// <param name="kind">The kind of measurement, part of the default folder's name.</param>
    /// <param name="time">The clock for the default folder's name.</param>
    public MeasuredSystem Read(ParseResult parsed, string kind, TimeProvider time) => new(
        _stack.Read(parsed), parsed.GetValue(_targets) ?? [],
        parsed.GetValue(_out) ?? ResultFolder.DefaultName(kind, time), MeasurementFlags.CommandLine(parsed));

    private string? StackOptionOf(CommandResult result) => result.Children.OfType<OptionResult>()
        .Where(option => !option.Implicit && _stack.Options.Contains(option.Option))
        .Select(option => option.Option.Name)
        .FirstOrDefault(name => !_usesEventStore || name != "--postgres");
}
