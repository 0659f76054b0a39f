using NBomber.Contracts;

namespace NBomber.Domain;

/// <summary>One copy of a scenario: calls once, or again and again. A call is timed from the
/// moment it is sent.</summary>
internal sealed class Copy(ScenarioRun run) : IScenarioContext
{
    public ScenarioInfo ScenarioInfo => run.Info;

    public int InvocationNumber { get; private set; }

    public void StopScenario(string scenarioName, string reason) => run.Session.StopScenario(scenarioName, reason);

    public async Task RepeatAsync(CancellationToken end)
    {
        while (!end.IsCancellationRequested)
        {
            await OnceAsync().ConfigureAwait(false);
        }
    }

    public async Task OnceAsync()
    {
        InvocationNumber++;
        var start = run.Time.GetTimestamp();
        IResponse response;
        try
        {
            response = await run.Props.Run(this).ConfigureAwait(false);
        }
        catch (StepFailedException)
        {
            // The step has its status, the iteration none.
            response = new Response<object>(isError: true, "", 0, "", 0);
        }
        catch (Exception e)
        {
            response = Failure<object>(e);
        }
        run.Meter.Record(response, run.Time.GetElapsedTime(start));
        if (run.Meter.FailCount >= run.Props.MaxFailCount)
        {
            run.Session.Stop($"scenario '{run.Props.ScenarioName}' has {run.Meter.FailCount} failures");
        }
    }

    public async Task<Response<T>> StepAsync<T>(string name, Func<Task<Response<T>>> step)
    {
        var start = run.Time.GetTimestamp();
        Response<T> response;
        try
        {
            response = await step().ConfigureAwait(false);
        }
        catch (Exception e)
        {
            response = Failure<T>(e);
        }
        run.Meter.RecordStep(name, response, run.Time.GetElapsedTime(start));
        return response.IsError && run.Props.RestartIterationOnFail ? throw new StepFailedException() : response;
    }

    // NBomber's own codes.
    private static Response<T> Failure<T>(Exception e) => e is OperationCanceledException
        ? new Response<T>(isError: true, "-100", 0, "operation timeout", 0)
        : new Response<T>(isError: true, "-101", 0, e.Message, 0);

    private sealed class StepFailedException : Exception;
}
