using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Billing.Load.Measuring;

namespace Billing.Load.Driving;

/// <summary>What a worker process runs: <c>drive SPEC RESULT</c>.</summary>
internal static class DriveCommand
{
    private const string Worker = "client";

    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(250);

    public static Command Create()
    {
        var spec = new Argument<string>("spec") { Description = "File that says what to send" };
        var result = new Argument<string>("result") { Description = "File for what came of it" };
        var command = new Command("drive", "Sends requests as one worker of a measurement.") { spec, result };
        command.Hidden = true;
        command.SetAction((parsed, cancellationToken) => RunAsync(
            parsed.GetRequiredValue(spec), parsed.GetRequiredValue(result), cancellationToken));
        return command;
    }

    private static async Task<int> RunAsync(string specFile, string resultFile, CancellationToken cancellationToken)
    {
        var spec = JsonSerializer.Deserialize(await File.ReadAllBytesAsync(specFile, cancellationToken), DriveJson.Default.DriveSpec)!;
        await using var driver = new Driver(spec, TimeProvider.System);
        await driver.WarmUpAsync(cancellationToken);
        Console.WriteLine("ready");
        await Console.In.ReadLineAsync(cancellationToken);
        using var stopped = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        // The console's reader blocks its caller, whatever its methods are called.
        _ = Task.Run(() => StopAtEndOfInputAsync(stopped), CancellationToken.None);
        var before = spec.TimedEvery > 0 ? ProcessorTimes.Read([(Worker, Environment.ProcessId)]) : null;
        var runtime = RuntimeUse.OfThisProcess();
        var running = driver.RunAsync(stopped.Token);
        while (await Task.WhenAny(running, Task.Delay(ProgressInterval, CancellationToken.None)) != running)
        {
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"done {driver.Done}"));
        }
        var found = await running;
        if (before is not null)
        {
            var used = ProcessorTimes.Read([(Worker, Environment.ProcessId)]).Since(before)[0];
            found = found with { Worker = used with { Runtime = RuntimeUse.OfThisProcess() - runtime } };
        }
        await using var file = File.Create(resultFile);
        await JsonSerializer.SerializeAsync(file, found, DriveJson.Default.DriveResult, CancellationToken.None);
        return 0;
    }

    private static async Task StopAtEndOfInputAsync(CancellationTokenSource stopped)
    {
        while (await Console.In.ReadLineAsync(CancellationToken.None) is not null)
        {
        }
        await stopped.CancelAsync();
    }
}
