using System.Text;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Setup;

/// <summary>Programs that this machine lacks. Everything that a command needs is recorded first and then
/// installed at once, if no password is required; otherwise one message lists what is missing, with one command
/// that installs it.</summary>
internal sealed class Needs(Installer installer)
{
    private readonly List<(string What, string Package, string Why)> _missing = [];

    /// <summary>Records a program that is not on the PATH.</summary>
    public void Program(string program, string package, string why)
    {
        if (installer.Machine.Find(program) is null)
        {
            Add(program, package, why);
        }
    }

    /// <summary>Records something that is missing.</summary>
    /// <param name="package">Debian's package; empty if there is none.</param>
    public void Add(string what, string package, string why) => _missing.Add((what, package, why));

    /// <summary>Installs what was recorded.</summary>
    /// <exception cref="StackException">It cannot be installed without a password, or not at all.</exception>
    public async Task SettleAsync(string command, CancellationToken cancellationToken)
    {
        if (_missing.Count == 0)
        {
            return;
        }
        if (_missing.Exists(need => need.Package.Length == 0) || !await installer.CanInstallAsync(cancellationToken))
        {
            throw new StackException(Refusal(command));
        }
        await installer.InstallAsync(
            string.Join(", ", _missing.Select(need => need.Why).Distinct()),
            [.. _missing.Select(need => need.Package).Distinct()], cancellationToken);
        _missing.Clear();
    }

    private string Refusal(string command)
    {
        var text = new StringBuilder($"./billing {command} needs programs that this machine lacks:");
        foreach (var purpose in _missing.GroupBy(need => need.Why))
        {
            text.Append($"\n  {purpose.Key}: {string.Join(", ", purpose.Select(need => need.What))}");
        }
        if (installer.CommandFor(
            _missing.Select(need => need.Package).Where(package => package.Length > 0)) is { } install)
        {
            text.Append("\nplease run: " + install);
        }
        return text.ToString();
    }
}
