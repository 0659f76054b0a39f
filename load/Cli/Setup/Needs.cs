using Billing.LocalStack.Processes;

namespace Billing.Cli.Setup;

/// <summary>What a command needs and this machine lacks. Everything is recorded first, so that one message names all of it.</summary>
internal sealed class Needs
{
    private readonly List<(string What, string Package, string Why)> _missing = [];

    /// <summary>Records a program unless it is installed.</summary>
    /// <param name="program">Its name.</param>
    /// <param name="package">The Debian package that contains it.</param>
    /// <param name="why">The purpose, such as <c>to run machines</c>.</param>
    public void Program(string program, string package, string why)
    {
        if (Tool.Find(program) is null)
        {
            Add(program, package, why);
        }
    }

    /// <summary>Records something that is missing.</summary>
    /// <param name="what">Its usual name.</param>
    /// <param name="package">The Debian package that contains it.</param>
    /// <param name="why">The purpose.</param>
    public void Add(string what, string package, string why) => _missing.Add((what, package, why));

    /// <summary>Installs what was recorded, as root.</summary>
    /// <param name="command">The command that needs it.</param>
    /// <param name="cancellationToken">Cancels the installation.</param>
    /// <exception cref="StackException">Something is missing that cannot be installed.</exception>
    public async Task SettleAsync(string command, CancellationToken cancellationToken)
    {
        if (_missing.Count == 0)
        {
            return;
        }
        var packages = _missing.Select(missing => missing.Package).Distinct().ToList();
        var names = string.Join(' ', packages);
        if (!Environment.IsPrivilegedProcess || Tool.Find("apt-get") is null)
        {
            var lines = _missing.GroupBy(missing => missing.Why, (why, missing) => $"\n  {why}: {string.Join(", ", missing.Select(each => each.What))}");
            throw new StackException(
                $"./billing {command} needs programs that this machine lacks:{string.Concat(lines)}\nplease install: {names}");
        }
        Messages.Say($"installing {names}");
        var apt = new Tool("apt-get") { Environment = new Dictionary<string, string> { ["DEBIAN_FRONTEND"] = "noninteractive" } };
        await apt.RunAsync(["update", "-q"], cancellationToken);
        await apt.RunAsync(["install", "-q", "-y", "--no-install-recommends", .. packages], cancellationToken);
        _missing.Clear();
    }
}
