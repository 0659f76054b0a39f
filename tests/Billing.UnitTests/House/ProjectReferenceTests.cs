using System.Xml.Linq;

namespace Billing.UnitTests.House;

/// <summary>The project table of the architecture: who may know whom.</summary>
public sealed class ProjectReferenceTests
{
    [Theory]
    [InlineData("Contracts", "")]
    [InlineData("Wire", "Contracts")]
    [InlineData("Messaging", "Contracts Wire")]
    [InlineData("Proxy", "Contracts Wire Messaging")]
    [InlineData("Backends", "Contracts Wire Messaging")]
    [InlineData("Sdk", "Contracts")]
    [InlineData("Client", "Contracts Sdk")]
    [InlineData("Simulation", "Contracts Wire Messaging Proxy Backends")]
    [InlineData("Cli", "Contracts Wire Messaging Proxy Backends Sdk Client Simulation")]
    public void A_project_references_only_what_it_may(string project, string allowed) =>
        Assert.Subset(allowed.Split(' ').ToHashSet(), References($"src/{project}/Billing.{project}.csproj").ToHashSet());

    [Fact]
    public void Every_project_of_the_product_is_in_the_table() => Assert.Equal(
        ["Backends", "Cli", "Client", "Contracts", "Messaging", "Proxy", "Sdk", "Simulation", "Wire"],
        Repository.Files("src", "*.csproj").Select(file => file.Split('/')[1]).Order(StringComparer.Ordinal));

    [Fact]
    public void A_polyfill_references_no_project_of_the_product() => Assert.Empty(
        from file in Repository.Files("polyfills", "*.csproj")
        from reference in ReferencedPaths(file)
        where reference.Contains("src/", StringComparison.Ordinal)
        select $"{file}: {reference}");

    /// <summary>NBomber 4 does not run beside what Marten asks for, and only its scenarios need it.</summary>
    [Theory]
    [InlineData("load/Load/Billing.Load.csproj")]
    [InlineData("src/Cli/Billing.Cli.csproj")]
    public void What_starts_the_scenarios_knows_nothing_of_NBomber(string project)
    {
        Assert.DoesNotContain(ReferencedPaths(project), path => path.Contains("Scenarios", StringComparison.Ordinal));
        Assert.DoesNotContain("NBomber\"", File.ReadAllText(Path.Combine(Repository.Root, project)), StringComparison.Ordinal);
    }

    [Fact]
    public void The_scenarios_know_the_client_and_nothing_of_the_stack() =>
        Assert.Equal(["Client"], References("load/Scenarios/Billing.Scenarios.csproj"));

    [Fact]
    public void The_packages_that_have_a_stand_in_are_the_folders_of_the_polyfills()
    {
        var named = XDocument.Load(Path.Combine(Repository.Root, "Directory.Build.props")).Descendants("PolyfillsThereAre").Single().Value;

        Assert.Equal(
            Directory.EnumerateDirectories(Path.Combine(Repository.Root, "polyfills")).Select(Path.GetFileName).Order(StringComparer.Ordinal),
            named.Split(';').Order(StringComparer.Ordinal));
    }

    private static IEnumerable<string> References(string project) =>
        ReferencedPaths(project).Select(path => path.Split('/')[^2]);

    private static IEnumerable<string> ReferencedPaths(string project) =>
        XDocument.Load(Path.Combine(Repository.Root, project)).Descendants("ProjectReference")
            .Select(reference => reference.Attribute("Include")!.Value.Replace('\\', '/'));
}
