using System.Xml.Linq;

namespace Billing.UnitTests.House;

/// <summary>The table of the projects in the architecture: the references that each project may have.</summary>
public sealed class ProjectReferenceTests
{
    [Theory]
    [InlineData("src/Contracts", "")]
    [InlineData("src/Hosting", "")]
    [InlineData("src/Messaging", "Contracts Hosting")]
    [InlineData("src/Proxy", "Contracts Hosting Messaging")]
    [InlineData("src/Backends", "Contracts Hosting Messaging")]
    [InlineData("src/Webhooks", "Contracts Hosting Messaging")]
    [InlineData("src/Client", "Contracts")]
    [InlineData("src/Journals", "Contracts")]
    [InlineData("src/Auditing", "Backends Client Journals")]
    [InlineData("src/Operator", "Auditing Backends Proxy Webhooks")]
    [InlineData("load/Driver", "Client Journals")]
    [InlineData("load/Simulation", "Contracts Client Hosting Messaging Proxy Backends Webhooks")]
    [InlineData("load/Embedded", "Proxy Backends")]
    [InlineData("load/Rpc", "Proxy Backends")]
    [InlineData("load/LocalStack", "Embedded Rpc Operator")]
    [InlineData("load/Chaos", "LocalStack Driver Auditing")]
    [InlineData("load/Misuse", "LocalStack Driver")]
    [InlineData("load/Reporting", "")]
    [InlineData("load/Measuring", "Reporting ScenarioFiles Chaos")]
    [InlineData("load/Scenarios", "ScenarioFiles Driver")]
    [InlineData("load/ScenarioFiles", "")]
    [InlineData("load/Benchmarks", "Measuring")]
    [InlineData("load/Cli", "Operator Simulation Measuring Misuse")]
    [InlineData("load/Rehearsal", "Cli")]
    public void A_project_references_only_the_allowed_projects(string project, string allowed) =>
        Assert.Subset(
            allowed.Split(' ').ToHashSet(),
            References($"{project}/Billing.{project.Split('/')[1]}.csproj").ToHashSet());

    [Fact]
    public void Every_project_of_the_product_is_in_the_table() => Assert.Equal(
        typeof(ProjectReferenceTests).GetMethod(nameof(A_project_references_only_the_allowed_projects))!
            .GetCustomAttributes(typeof(InlineDataAttribute), inherit: false)
            .Select(row => ((InlineDataAttribute)row).Data[0]!.ToString()!).Order(StringComparer.Ordinal),
        Repository.Files("src", "*.csproj").Concat(Repository.Files("load", "*.csproj"))
            .Select(file => Path.GetDirectoryName(file)!).Order(StringComparer.Ordinal));

    [Fact]
    public void A_polyfill_references_no_project_of_the_product() => Assert.Empty(
        from file in Repository.Files("polyfills", "*.csproj")
        from reference in ReferencedPaths(file)
        where reference.Contains("src/", StringComparison.Ordinal)
        select $"{file}: {reference}");

    /// <summary>NBomber 4 is incompatible with Marten's dependencies, and only the scenarios need it.</summary>
    [Theory]
    [InlineData("load/Measuring/Billing.Measuring.csproj")]
    [InlineData("load/Cli/Billing.Cli.csproj")]
    public void The_projects_that_start_the_scenarios_do_not_reference_NBomber(string project) =>
        Assert.DoesNotContain(
            "NBomber\"", File.ReadAllText(Path.Combine(Repository.Root, project)), StringComparison.Ordinal);

    private static IEnumerable<string> References(string project) =>
        ReferencedPaths(project).Where(path => !path.Contains("/polyfills/", StringComparison.Ordinal))
            .Select(path => path.Split('/')[^2]);

    private static IEnumerable<string> ReferencedPaths(string project) =>
        XDocument.Load(Path.Combine(Repository.Root, project)).Descendants("ProjectReference")
            .Select(reference => reference.Attribute("Include")!.Value.Replace('\\', '/'));
}
