using System.CommandLine;
using Billing.Measuring.Driving;

namespace Billing.Cli.Commands.Measurements;

/// <summary>The hidden command that starts a worker process of a measurement: <c>drive SPEC RESULT</c>.</summary>
internal static class DriveCommand
{
    public static Command Create()
    {
        var spec = new Argument<string>("spec") { Description = "File with the requests to send" };
        var result = new Argument<string>("result") { Description = "File for the results" };
        var command = new Command("drive", "Sends requests as one worker of a measurement.") { spec, result };
        command.Hidden = true;
        command.SetAction((parsed, cancellationToken) => DriveWorker.RunAsync(
            parsed.GetRequiredValue(spec), parsed.GetRequiredValue(result), cancellationToken));
        return command;
    }
}
