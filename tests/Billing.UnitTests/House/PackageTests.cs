using System.Xml.Linq;
using Billing.Client;

namespace Billing.UnitTests.House;

/// <summary>The dependencies that a caller gets with the SDK.</summary>
public sealed class PackageTests
{
    [Fact]
    public void The_SDK_references_only_the_packages_that_a_caller_needs()
    {
        Assert.Equal(
            [
                "Grpc.Net.Client", "Grpc.StatusProto", "Microsoft.Extensions.Configuration.Binder",
                "Microsoft.Extensions.DependencyInjection.Abstractions",
                "Microsoft.Extensions.Logging.Abstractions", "Microsoft.Extensions.Options",
                "Polly.Core", "System.Diagnostics.DiagnosticSource",
            ],
            Named("src/Client/Billing.Client.csproj", "PackageReference"));
        Assert.Empty(Named("src/Client/Billing.Client.csproj", "FrameworkReference"));
        Assert.DoesNotContain(
            typeof(BillingClient).Assembly.GetReferencedAssemblies(),
            assembly => assembly.Name!.StartsWith("Microsoft.AspNetCore", StringComparison.Ordinal)
                || assembly.Name == "Billing.Messaging");
    }

    [Fact]
    public void The_contract_package_contains_no_types_of_the_internal_protocol() => Assert.DoesNotContain(
        typeof(global::Billing.Contracts.FieldRules).Assembly.GetExportedTypes(),
        type => type.Namespace!.StartsWith("Billing.Wire", StringComparison.Ordinal) || type.Name == "Topics");

    [Theory]
    [InlineData("src/Contracts")]
    [InlineData("src/Client")]
    public void A_package_has_a_readme_that_begins_with_its_name(string folder)
    {
        var project = Repository.Files(folder, "*.csproj").Single();

        Assert.Equal("# " + Path.GetFileNameWithoutExtension(project), Repository.Lines($"{folder}/README.md")[0]);
    }

    [Fact]
    public void A_package_has_an_icon_notes_of_its_release_and_the_address_of_its_project()
    {
        var properties = XDocument.Load(Path.Combine(Repository.Root, "eng/NuGet.props"));
        var packed = properties.Descendants("None").Where(file => file.Attribute("Pack")?.Value == "true")
            .Select(file => file.Attribute("Include")!.Value.Split('/', ')')[^1]).ToList();

        Assert.Equal(["README.md", "icon.png", "CHANGELOG.md"], packed);
        Assert.Equal("icon.png", Assert.Single(properties.Descendants("PackageIcon")).Value);
        Assert.Contains(
            "CHANGELOG.md", Assert.Single(properties.Descendants("PackageReleaseNotes")).Value,
            StringComparison.Ordinal);
        Assert.NotEmpty(properties.Descendants("PackageProjectUrl"));
        Assert.Equal("\u0089PNG", System.Text.Encoding.Latin1.GetString(
            File.ReadAllBytes(Path.Combine(Repository.Root, "eng/icon.png")), 0, 4));
    }

    private static IEnumerable<string> Named(string project, string element) =>
        XDocument.Load(Path.Combine(Repository.Root, project)).Descendants(element)
            .Select(reference => reference.Attribute("Include")!.Value).Order(StringComparer.Ordinal);
}
