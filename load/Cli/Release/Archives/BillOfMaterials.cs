using System.Security.Cryptography;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;

namespace Billing.Cli.Release.Archives;

/// <summary>The components of a released program, in the CycloneDX format: from its deps.json and the packages that it
/// was restored from.</summary>
internal static partial class BillOfMaterials
{
    private const string License = "Apache-2.0";

    /// <summary>Returns the bill of materials as JSON.</summary>
    public static string Of(
        string published, string program, string version, string runtime, string packages, DateTimeOffset time)
    {
        using var json = JsonDocument.Parse(File.ReadAllBytes(Path.Combine(published, program + ".deps.json")));
        var own = $"{program}/{version}";
        var target = json.RootElement.GetProperty("runtimeTarget").GetProperty("name").GetString()!;
        var bill = new JsonObject
        {
            ["bomFormat"] = "CycloneDX",
            ["specVersion"] = "1.5",
            ["version"] = 1,
            ["metadata"] = new JsonObject
            {
                ["timestamp"] = time.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", null),
                ["component"] = new JsonObject
                {
                    ["type"] = "application",
                    ["bom-ref"] = Reference(own),
                    ["name"] = program,
                    ["version"] = version,
                    ["description"] = "for " + runtime,
                    ["licenses"] = Licenses(License),
                },
            },
            ["components"] = List(
                PublishedLibrary.Of(json.RootElement).Where(library => library.Key != own)
                    .Select(library => Component(library, published, packages))),
            ["dependencies"] = List(
                json.RootElement.GetProperty("targets").GetProperty(target).EnumerateObject().Select(Dependency)),
        };
        return ReleaseJson.Text(bill);
    }

    private static JsonObject Component(PublishedLibrary library, string published, string packages)
    {
        var component = new JsonObject
        {
            ["type"] = "library",
            ["bom-ref"] = Reference(library.Key),
            ["name"] = library.Name,
            ["version"] = library.Version,
        };
        string? hash, license;
        if (library.IsProject)
        {
            component["description"] = "part of Billing";
            (hash, license) = (HashOfAssembly(Path.Combine(published, library.Name + ".dll")), License);
        }
        else
        {
            component["purl"] = Reference(library.Key);
            var package = library.PackageFolder(packages);
            (hash, license) = (HashOfPackage(package), LicenseOf(package));
        }
        if (hash is not null)
        {
            component["hashes"] = List([new JsonObject { ["alg"] = "SHA-512", ["content"] = hash }]);
        }
        if (license is not null)
        {
            component["licenses"] = Licenses(license);
        }
        return component;
    }

    private static JsonObject Dependency(JsonProperty library) => new()
    {
        ["ref"] = Reference(library.Name),
        ["dependsOn"] = List(library.Value.TryGetProperty("dependencies", out var dependencies)
            ? dependencies.EnumerateObject()
                .Select(dependency => JsonValue.Create(Reference($"{dependency.Name}/{dependency.Value.GetString()}")))
            : []),
    };

    private static string Reference(string key) => "pkg:nuget/" + PublishedLibrary.WithoutPrefix(key).Replace('/', '@');

    private static JsonArray Licenses(string expression) => List([new JsonObject { ["expression"] = expression }]);

    private static JsonArray List(IEnumerable<JsonNode> items) => [.. items];

    private static string? HashOfAssembly(string file) =>
        File.Exists(file) ? Convert.ToHexStringLower(SHA512.HashData(File.ReadAllBytes(file))) : null;

    // The package's hash in the registry's index.
    private static string HashOfPackage(string folder) =>
        Convert.ToHexStringLower(Convert.FromBase64String(
            File.ReadAllText(Directory.EnumerateFiles(folder, "*.nupkg.sha512").Single()).Trim()));

    // Only if the package states it as an expression: a file or a URL is not the name of a licence.
    private static string? LicenseOf(string folder) =>
        LicenseExpression()
            .Match(File.ReadAllText(Directory.EnumerateFiles(folder, "*.nuspec").Single())) is { Success: true } found
            ? found.Groups[1].Value
            : null;

    [GeneratedRegex("""<license type="expression">([^<]+)<""")]
    private static partial Regex LicenseExpression();
}
