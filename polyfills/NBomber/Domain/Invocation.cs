using System.Diagnostics;
using NBomber.Contracts;
using NBomber.Contracts.Stats;

namespace NBomber.Domain;

/// <summary>One call of a scenario. The first step counts from the time that the call was meant to start at, as the call
/// itself does: what keeps it from starting is a delay to its caller.</summary>
internal sealed class Invocation(
    ScenarioRun run, ScenarioInfo info, Dictionary<string, object> instanceData, long number, long intended) : IScenarioContext
{
    private Dictionary<string, object>? _data;
    private Random? _random;
    private bool _hasStep;

    public TestInfo TestInfo => run.Session.TestInfo;

    public ScenarioInfo ScenarioInfo => info;

    public NodeInfo NodeInfo => run.Session.NodeInfo;

    public long InvocationNumber => number;

    public Dictionary<string, object> Data => _data ??= new(StringComparer.Ordinal);

    public Dictionary<string, object> ScenarioInstanceData => instanceData;

    public CancellationToken ScenarioCancellationToken => run.Ended;

    public Random Random => _random ??= new Random(HashCode.Combine(info.ScenarioName, number));

    public void StopScenario(string scenarioName, string reason) => run.Session.StopScenario(scenarioName, reason);

    public void StopCurrentTest(string reason) => run.Session.Stop(reason);

    public TimeSpan GetScenarioTimerTime() => run.Elapsed;

    public async Task<Response<T>> StepAsync<T>(string name, Func<Task<Response<T>>> step)
    {
        var start = _hasStep ? Stopwatch.GetTimestamp() : intended;
        _hasStep = true;
        var response = await AnswerAsync(step).ConfigureAwait(false);
        run.Meter.RecordStep(name, Latency(start, response), response);
        if (response.IsError && run.Props.RestartIterationOnFail)
        {
            throw new IterationFailedException(response);
        }
        return response;
    }

    /// <summary>The answer's own latency where it names one, else the time since the start.</summary>
    public static TimeSpan Latency(long start, IResponse response) =>
        response.CustomLatencyMs > 0 ? TimeSpan.FromMilliseconds(response.CustomLatencyMs) : Stopwatch.GetElapsedTime(start);

    private static async Task<Response<T>> AnswerAsync<T>(Func<Task<Response<T>>> step)
    {
        try
        {
            return await step().ConfigureAwait(false);
        }
        catch (Exception e)
        {
            return Failures.Of<T>(e);
        }
    }
}

/// <summary>Ends an iteration whose step has failed.</summary>
#pragma warning disable CA1032 // Thrown and caught here only.
internal sealed class IterationFailedException(IResponse response) : Exception(response.Message)
#pragma warning restore CA1032
{
    public IResponse Response => response;
}

internal static class Failures
{
    /// <summary>NBomber's codes: -100 for a call that was cancelled or timed out, -101 for any other exception.</summary>
    public static Response<T> Of<T>(Exception e) => e is OperationCanceledException
        ? new Response<T>("-100", isError: true, 0, 0, "operation timeout")
        : new Response<T>("-101", isError: true, 0, 0, e.Message);
}
