using NBomber.Contracts;
using NBomber.Domain;

namespace NBomber.CSharp;

public static class Step
{
    public static Task<Response<T>> Run<T>(string name, IScenarioContext context, Func<Task<Response<T>>> run) =>
        ((Copy)context).StepAsync(name, run);
}
