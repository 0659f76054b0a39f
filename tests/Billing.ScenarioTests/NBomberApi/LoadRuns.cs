namespace Billing.ScenarioTests.NBomberApi;

/// <summary>Tests that run one at a time, because a load run needs the whole machine and the console.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class LoadRuns
{
    public const string Name = "load runs";
}
