using System.Globalization;
using System.Text.Json;
using Billing.Measuring.Processes;

namespace Billing.Measuring.Driving;

/// <summary>The code of a worker process, which <see cref="DriveFleet"/> starts and controls.</summary>
internal static class DriveWorker
{
    private const string Worker = "client";

    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(250);

    /// <summary>Warms up, prints <c>ready</c>, waits for a line on standard input, sends the requests and writes the results. The
    /// end of standard input ends it early.</summary>
    /// <param name="specFile">The file with the <see cref="DriveSpec"/>, as JSON.</param>
    /// <param name="resultFile">The file to write the <see cref="DriveResult"/> to, as JSON.</param>
    /// <param name="cancellationToken">Ends it early.</param>
    /// <returns>The process's exit code.</returns>
    public static async Task<int> RunAsync(string specFile, string resultFile, CancellationToken cancellationToken)
    {
        var spec = JsonSerializer.Deserialize(await File.ReadAllBytesAsync(specFile, cancellationToken), DriveJson.Default.DriveSpec)!;
        await using var driver = new Driver(spec, TimeProvider.System);
        await driver.WarmUpAsync(cancellationToken);
        Console.WriteLine("ready");
        await Console.In.ReadLineAsync(cancellationToken);
        using var stopped = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        // The console's reader blocks its caller, even in its asynchronous methods.
        _ = Task.Run(() => StopAtEndOfInputAsync(stopped), CancellationToken.None);
        var before = spec.TimedEvery > 0 ? ProcessorTimes.Read([(Worker, Environment.ProcessId)]) : null;
        var runtime = RuntimeUse.OfThisProcess();
        var running = driver.RunAsync(stopped.Token);
        while (await Task.WhenAny(running, Task.Delay(ProgressInterval, CancellationToken.None)) != running)
        {
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"done {driver.Done}"));
        }
        var result = await running;
        if (before is not null)
        {
            var used = ProcessorTimes.Read([(Worker, Environment.ProcessId)]).Since(before)[0];
            result = result with { Worker = used with { Runtime = RuntimeUse.OfThisProcess() - runtime } };
        }
        await using var file = File.Create(resultFile);
        await JsonSerializer.SerializeAsync(file, result, DriveJson.Default.DriveResult, CancellationToken.None);
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
