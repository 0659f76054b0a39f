using Billing.Cli.Setup;

namespace Billing.Rehearsal.Preparation;

/// <summary>The kernel's limit of inotify instances per user. The systemd of each machine uses a few;
/// together they exceed the default.</summary>
internal sealed class WatchLimit : IDisposable
{
    private const string Setting = "/proc/sys/fs/inotify/max_user_instances";
    private const int Needed = 1024;

    private readonly string? _old;

    private WatchLimit(string? old) => _old = old;

    /// <summary>Raises the limit where it is too low, until the result is disposed.</summary>
    public static WatchLimit Raise()
    {
        var limit = File.ReadAllText(Setting).Trim();
        if (int.Parse(limit) >= Needed)
        {
            return new WatchLimit(null);
        }
        Messages.Say($"setting fs.inotify.max_user_instances to {Needed} while the machines run; it is {limit}");
        File.WriteAllText(Setting, Needed.ToString());
        return new WatchLimit(limit);
    }

    public void Dispose()
    {
        if (_old is not null)
        {
            File.WriteAllText(Setting, _old);
        }
    }
}
