using Xunit.v3;

namespace Billing.IntegrationTests;

/// <summary>Tests that are not about what a replaceable package does, or not more than others are: <c>./billing test --packages</c>
/// leaves them out.</summary>
/// <param name="about">What they are about.</param>
[AttributeUsage(AttributeTargets.Class)]
public sealed class AnyPackagesAttribute(string about) : Attribute, ITraitAttribute
{
    public string About => about;

    public IReadOnlyCollection<KeyValuePair<string, string>> GetTraits() => [new("Packages", "Any")];
}
