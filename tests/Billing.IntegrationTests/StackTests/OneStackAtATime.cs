namespace Billing.IntegrationTests.StackTests;

/// <summary>What starts servers of its own, one test after the other: each takes much of a small machine.</summary>
[CollectionDefinition(Name)]
public sealed class OneStackAtATime
{
    public const string Name = "Stack";
}
