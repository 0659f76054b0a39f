namespace Billing.IntegrationTests.StackTests;

/// <summary>One stack at a time: each takes most of a small machine.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class OneStackAtATime
{
    public const string Name = "Stack";
}
