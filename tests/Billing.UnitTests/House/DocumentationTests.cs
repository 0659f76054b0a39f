using System.Reflection;
using System.Runtime.CompilerServices;
using System.Xml.Linq;

namespace Billing.UnitTests.House;

public sealed class DocumentationTests
{
    [Theory]
    [InlineData("Billing.Contracts")]
    [InlineData("Billing.Wire")]
    [InlineData("Billing.Messaging")]
    [InlineData("Billing.Proxy")]
    [InlineData("Billing.Backends")]
    [InlineData("Billing.Sdk")]
    [InlineData("Billing.Client")]
    [InlineData("Billing.LocalStack")]
    [InlineData("Billing.Auditing")]
    [InlineData("Billing.Chaos")]
    [InlineData("Billing.Reporting")]
    [InlineData("Billing.Measuring")]
    [InlineData("Billing.Cli")]
    public void Every_public_type_says_what_it_is(string assembly)
    {
        var documented = XDocument.Load(Path.Combine(AppContext.BaseDirectory, assembly + ".xml"))
            .Descendants("member")
            .Where(member => member.Element("summary")?.Value.Trim().Length > 0)
            .Select(member => member.Attribute("name")!.Value)
            .ToHashSet(StringComparer.Ordinal);
        var undocumented =
            from type in Assembly.Load(assembly).GetExportedTypes()
            where !IsGenerated(type)
            where !documented.Contains("T:" + type.FullName!.Replace('+', '.'))
            select type.FullName;
        Assert.Empty(undocumented);
    }

    /// <summary>What protoc writes lives in the namespaces that the .proto files name.</summary>
    private static bool IsGenerated(Type type) =>
        type.Namespace is null
        || type.Namespace.EndsWith(".V1", StringComparison.Ordinal)
        || type.Namespace.EndsWith(".V1Alpha", StringComparison.Ordinal)
        || type.IsDefined(typeof(CompilerGeneratedAttribute));
}
