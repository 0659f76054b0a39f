using System.CommandLine;
using System.CommandLine.Parsing;
using Billing.Measuring;

namespace Billing.Cli.Commands;

/// <summary>The options that say what a measurement runs on, and where its results go: the same for all that measure.</summary>
internal sealed class SystemFlags
{
    private readonly StackFlags _stack = new();
    private readonly bool _usesEventStore;
    private readonly Option<string[]> _targets;
    private readonly Option<string?> _out;

    /// <param name="results">What the folder of results holds.</param>
    /// <param name="usesEventStore">Whether, with targets, <c>--postgres</c> names their event store.</param>
    public SystemFlags(string results = "result.json and report.html", bool usesEventStore = false)
    {
        _usesEventStore = usesEventStore;
        _targets = ListFlags.Addresses(
            "--targets", "Addresses of proxies that run already, instead of starting a stack" + (usesEventStore ? "; --postgres then names their event store" : ""));
        _out = MeasurementFlags.Folder(results);
    }

    public void AddTo(Command command)
    {
        command.Add(_targets);
        command.Add(_out);
        _stack.AddTo(command);
        command.Validators.Add(result =>
        {
            if (result.GetResult(_targets) is { Implicit: false } && StackOptionOf(result) is { } useless)
            {
                result.AddError($"{useless} is about a stack of the command's own; with --targets there is none.");
            }
        });
    }

    /// <param name="parsed">The command line.</param>
    /// <param name="kind">What is measured; names the default folder.</param>
    /// <param name="time">Tells one default folder from the next.</param>
    public MeasuredSystem Read(ParseResult parsed, string kind, TimeProvider time) => new(
        _stack.Read(parsed), parsed.GetValue(_targets) ?? [], parsed.GetValue(_out) ?? ResultFolder.DefaultName(kind, time),
        MeasurementFlags.CommandLine(parsed));

    private string? StackOptionOf(CommandResult result) => result.Children.OfType<OptionResult>()
        .Where(option => !option.Implicit && _stack.Options.Contains(option.Option))
        .Select(option => option.Option.Name)
        .FirstOrDefault(name => !_usesEventStore || name != "--postgres");
}
