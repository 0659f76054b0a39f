using Xunit.v3;

namespace Billing.IntegrationTests;

/// <summary>Marks tests that do not depend on the behaviour of a replaceable package, or only on behaviour that other tests
/// cover too: <c>./billing test --packages</c> leaves them out.</summary>
/// <param name="about">The subject of the tests.</param>
[AttributeUsage(AttributeTargets.Class)]
public sealed class AnyPackagesAttribute(string about) : Attribute, ITraitAttribute
{
    public string About => about;

    public IReadOnlyCollection<KeyValuePair<string, string>> GetTraits() => [new("Packages", "Any")];
}
