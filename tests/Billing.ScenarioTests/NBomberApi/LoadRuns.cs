namespace Billing.ScenarioTests.NBomberApi;

/// <summary>One at a time: a run takes the machine and the console for itself.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class LoadRuns
{
    public const string Name = "load runs";
}
