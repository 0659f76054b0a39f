namespace Billing.IntegrationTests.StackTests;

/// <summary>Tests that start their own servers. They run one after another, because each needs much
/// of a small machine.</summary>
[CollectionDefinition(Name)]
public sealed class SequentialStackTests
{
    public const string Name = "Stack";
}
