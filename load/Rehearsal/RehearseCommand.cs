using System.CommandLine;
using Billing.Cli.Setup;
using Billing.Operator.Arguments;
using Billing.Rehearsal.Preparation;
using Spectre.Console;

namespace Billing.Rehearsal;

/// <summary>The command <c>rehearse</c>: the deployment on one machine.</summary>
internal static class RehearseCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var requests = Flags.Number(
            "--requests", "Payments that each of the three clients sends at once", 25_000, 100, 1_000_000);
        var rate = Flags.Number(
            "--rate", "Payments per second of each client while machines are cut off, upgraded and added",
            100, 1, 10_000);
        var delay = Flags.Number(
            "--zone-delay", "Latency of a packet from one zone to another, in microseconds", 500, 0, 1_000_000);
        var micro = new Option<bool>("--micro")
        {
            Description =
                "Machines that have spent their CPU credits: a tenth of a processor each, once they are installed",
        };
        var isShort = new Option<bool>("--short")
        {
            Description =
                "Only growth, databases that are added, secrets that are replaced and machines that burn: "
                + "no experiment, no upgrade, and no restore but that of the burnt machines",
        };
        var from = Flags.Text(
            "--from",
            "Folder of a former release, made by its own package command, that is installed first; "
                + "by default, the present sources are both releases",
            "FOLDER");
        var report = Flags.Text("--report", "File for the figures, as JSON", "FILE");
        var logs = Flags.Text("--logs", "Folder for the machines' logs and the clients' journals", "FOLDER");
        var (folder, image, release, next) =
            (Hidden("--folder"), Hidden("--image"), Hidden("--release"), Hidden("--next-release"));
        var command = new Command(
            "rehearse",
            "Boots the machines of deploy/terraform on this one, installs them as a cloud would, runs the experiment, "
                + "cuts machines off, upgrades and adds machines, restores the database, burns its machines with their "
                + "disks, and audits. Needs root.")
        {
            requests, rate, delay, micro, isShort, from, report, logs, folder, image, release, next,
        };
        return command.Does((parsed, cancellationToken) => parsed.GetValue(folder) is not { } prepared
            ? new PreparedRehearsal(Workspace.FromEnvironment()).RunAsync(
                parsed.Tokens.Select(token => token.Value), parsed.GetValue(from),
                parsed.GetValue(isShort), cancellationToken)
            : new Rehearsal(
                new RehearsalOptions(
                    Workspace.FromEnvironment().Root, prepared, parsed.GetValue(image)!, parsed.GetValue(release)!,
                    parsed.GetValue(next)!, parsed.GetValue(requests), parsed.GetValue(rate),
                    TimeSpan.FromMicroseconds(parsed.GetValue(delay)), parsed.GetValue(micro), parsed.GetValue(isShort),
                    parsed.GetValue(report), parsed.GetValue(logs)),
                console).RunAsync(cancellationToken));
    }

    // Passed by the process that has prepared the rehearsal.
    private static Option<string?> Hidden(string name) => new(name) { Hidden = true };
}
