using System.Text.Json;
using Billing.ScenarioFiles;
using Billing.Scenarios;

// `./billing load` starts this program. If it is started by hand, standard input must stay open until it has ended.
if (args is not [var specFile, var resultFile])
{
    await Console.Error.WriteLineAsync(
        "Usage: Billing.Scenarios SPEC RESULT (files as in ScenarioFiles.cs; the end of standard input ends it early)");
    return 1;
}
var spec = JsonSerializer.Deserialize(await File.ReadAllBytesAsync(specFile), ScenarioJson.Default.ScenarioSpec)!;
using var interrupt = new CancellationTokenSource();
// The console's reader blocks its caller, even in its asynchronous methods.
_ = Task.Run(() => StopAtEndOfInputAsync(interrupt));
var result = await new ScenarioRun(spec, TimeProvider.System).RunAsync(interrupt.Token);
await File.WriteAllBytesAsync(
    resultFile, JsonSerializer.SerializeToUtf8Bytes(result, ScenarioJson.Default.ScenarioResult));
return 0;

static async Task StopAtEndOfInputAsync(CancellationTokenSource interrupt)
{
    while (await Console.In.ReadLineAsync() is not null)
    {
    }
    await interrupt.CancelAsync();
}
