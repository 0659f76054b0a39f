namespace Billing.IntegrationTests.StackTests;

/// <summary>Tests that start their own servers. They run one after another, because each needs much of a small machine.</summary>
[CollectionDefinition(Name)]
public sealed class OneStackAtATime
{
    public const string Name = "Stack";
}
