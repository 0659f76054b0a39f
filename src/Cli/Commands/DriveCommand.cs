using System.CommandLine;
using Billing.Measuring.Driving;

namespace Billing.Cli.Commands;

/// <summary>What a worker process of a measurement is started with: <c>drive SPEC RESULT</c>.</summary>
internal static class DriveCommand
{
    public static Command Create()
    {
        var spec = new Argument<string>("spec") { Description = "File that says what to send" };
        var result = new Argument<string>("result") { Description = "File for what came of it" };
        var command = new Command("drive", "Sends requests as one worker of a measurement.") { spec, result };
        command.Hidden = true;
        command.SetAction((parsed, cancellationToken) => DriveWorker.RunAsync(
            parsed.GetRequiredValue(spec), parsed.GetRequiredValue(result), cancellationToken));
        return command;
    }
}
