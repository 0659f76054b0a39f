using System.CommandLine;
using Billing.Cli.Arguments;
using Billing.Cli.Setup;
using Billing.Rehearsal.Preparation;
using Spectre.Console;

namespace Billing.Rehearsal;

/// <summary>The command <c>rehearse</c>: the deployment on one machine.</summary>
internal static class RehearseCommand
{
    /// <param name="console">The console to print to.</param>
    public static Command Create(IAnsiConsole console)
    {
        var requests = Flags.Number("--requests", "Payments that each of the three clients sends at once", 25_000, 100, 1_000_000);
        var rate = Flags.Number("--rate", "Payments per second of each client while machines are cut off, upgraded and added", 100, 1, 10_000);
        var delay = Flags.Number("--zone-delay", "Latency of a packet from one zone to another, in microseconds", 500, 0, 1_000_000);
        var report = new Option<string?>("--report") { Description = "File for the figures, as JSON", HelpName = "FILE" };
        var logs = new Option<string?>("--logs") { Description = "Folder for the machines' logs and the clients' journals", HelpName = "FOLDER" };
        var (folder, image, release, next) = (Hidden("--folder"), Hidden("--image"), Hidden("--release"), Hidden("--next-release"));
        var command = new Command("rehearse", "Boots the machines of deploy/terraform on this one, installs them as a cloud would, runs the experiment, cuts machines off, upgrades and adds machines, restores the database, and audits. Needs root.")
        {
            requests, rate, delay, report, logs, folder, image, release, next,
        };
        command.SetAction((parsed, cancellationToken) => Guarded.RunAsync(() => parsed.GetValue(folder) is not { } prepared
            ? new PreparedRehearsal(Workspace.FromEnvironment()).RunAsync(parsed.Tokens.Select(token => token.Value), cancellationToken)
            : new Rehearsal(
                new RehearsalOptions
                {
                    Repository = Workspace.FromEnvironment().Root,
                    Folder = prepared,
                    Image = parsed.GetValue(image)!,
                    Release = parsed.GetValue(release)!,
                    NextRelease = parsed.GetValue(next)!,
                    Requests = parsed.GetValue(requests),
                    Rate = parsed.GetValue(rate),
                    ZoneDelay = TimeSpan.FromMicroseconds(parsed.GetValue(delay)),
                    Report = parsed.GetValue(report),
                    Logs = parsed.GetValue(logs),
                },
                console).RunAsync(cancellationToken)));
        return command;
    }

    // Passed by the process that has prepared the rehearsal.
    private static Option<string?> Hidden(string name) => new(name) { Hidden = true };
}
