using System.Globalization;
using System.Text.Json;

namespace Billing.Driver;

/// <summary>A driver as a process that another one controls over its standard streams: it warms up, writes
/// <c>ready</c>, begins at a line on its input, writes <c>done N</c> as its progress, writes its results to a file, and
/// then <c>finished</c>. The end of its input ends sending early, and afterwards the process.</summary>
internal static class Worker
{
    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(250);

    /// <param name="specFile">The file with the <see cref="LoadSpec"/>, as JSON.</param>
    /// <param name="resultFile">The file to write the <see cref="LoadResult"/> to, as JSON.</param>
    /// <returns>The process's exit code.</returns>
    public static async Task<int> RunAsync(string specFile, string resultFile, CancellationToken cancellationToken)
    {
        var spec = JsonSerializer.Deserialize(
            await File.ReadAllBytesAsync(specFile, cancellationToken), LoadJson.Default.LoadSpec)!;
        await using (var driver = new LoadDriver(spec, TimeProvider.System))
        {
            await driver.WarmUpAsync(cancellationToken);
            var result = await RunAsync(driver, waitsForGo: true, cancellationToken);
            await using var file = File.Create(resultFile);
            await JsonSerializer.SerializeAsync(file, result, LoadJson.Default.LoadResult, CancellationToken.None);
        }
        Console.WriteLine("finished");
        // Whoever reads this process's processor time needs it to be there.
        while (await Console.In.ReadLineAsync(CancellationToken.None) is not null)
        {
        }
        return 0;
    }

    /// <summary>Runs the measured load of a driver, and writes its progress.</summary>
    /// <param name="waitsForGo">Whether to say <c>ready</c> and to wait for a line;
    /// the end of the input then ends sending.</param>
    public static async Task<LoadResult> RunAsync(
        LoadDriver driver, bool waitsForGo, CancellationToken cancellationToken)
    {
        // Not disposed of: the thread that waits for the end of the input may outlive this call,
        // until the process ends.
        var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        if (waitsForGo)
        {
            Console.WriteLine("ready");
            await Console.In.ReadLineAsync(cancellationToken);
            // The console's reader blocks its caller, even in its asynchronous methods.
            _ = Task.Run(() => CancelAtEndOfInput(enough), CancellationToken.None);
        }
        var running = driver.RunAsync(enough.Token);
        while (await Task.WhenAny(running, Task.Delay(ProgressInterval, CancellationToken.None)) != running)
        {
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"done {driver.Done}"));
        }
        return await running;
    }

    private static void CancelAtEndOfInput(CancellationTokenSource enough)
    {
        while (Console.In.ReadLine() is not null)
        {
        }
        enough.Cancel();
    }
}
