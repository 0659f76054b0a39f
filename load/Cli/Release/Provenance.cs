using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;
using Billing.Cli.Release.Archives;
using Billing.LocalStack.Kafka;

namespace Billing.Cli.Release;

/// <summary>How a release was made, and of what, beside the hash of each of its files: SLSA's provenance in a statement
/// of in-toto (https://slsa.dev/provenance/v1). It says nothing about the machine or the moment, so that whoever
/// repeats it gets the same bytes.</summary>
/// <param name="sdk">The version of the .NET SDK.</param>
/// <param name="kafka">The folder of the Kafka installation that is repackaged.</param>
internal sealed class Provenance(ReleaseOptions options, Sources sources, string sdk, string kafka)
{
    // docs/operations/upgrade.md describes it.
    private const string BuildType = "urn:billing:package:v1";

    private readonly string _name = $"billing-{options.Version}.provenance.json";

    /// <summary>Writes it into a release. All files but it and the checksums, which cover it,
    /// have to be there.</summary>
    public async Task WriteAsync(string release, CancellationToken cancellationToken)
    {
        var files = Directory.EnumerateFiles(release).Select(file => Path.GetFileName(file))
            .Where(name => name != _name && name != Checksums.FileName).Order(StringComparer.Ordinal);
        var statement = new JsonObject
        {
            ["_type"] = "https://in-toto.io/Statement/v1",
            ["subject"] = new JsonArray([.. files.Select(name => Subject(release, name))]),
            ["predicateType"] = "https://slsa.dev/provenance/v1",
            ["predicate"] = new JsonObject
            {
                ["buildDefinition"] = new JsonObject
                {
                    ["buildType"] = BuildType,
                    ["externalParameters"] = Parameters(),
                    ["resolvedDependencies"] = new JsonArray([.. Dependencies()]),
                },
                ["runDetails"] = new JsonObject { ["builder"] = new JsonObject { ["id"] = BuildType } },
            },
        };
        await File.WriteAllTextAsync(Path.Combine(release, _name), ReleaseJson.Text(statement), cancellationToken);
    }

    private static JsonObject Subject(string release, string name) => new()
    {
        ["name"] = name,
        ["digest"] = new JsonObject { ["sha256"] = Checksums.Of(Path.Combine(release, name)) },
    };

    private JsonObject Parameters() => new()
    {
        ["version"] = options.Version,
        ["architectures"] = new JsonArray([.. options.Architectures.Select(name => JsonValue.Create(name))]),
        [Sources.TimeVariable] = sources.Epoch,
    };

    private IEnumerable<JsonObject> Dependencies()
    {
        if (sources.Commit is not null)
        {
            yield return Source(sources.Commit);
        }
        yield return new JsonObject { ["uri"] = "pkg:generic/dotnet-sdk@" + sdk };
        yield return new JsonObject
        {
            ["uri"] = "pkg:generic/kafka@" + KafkaPrograms.Version,
            ["digest"] = new JsonObject { ["dirHash"] = HashOfJars() },
        };
    }

    // The commit alone does not give the release again if there was more than is committed.
    private JsonObject Source(string commit)
    {
        var source = new JsonObject { ["name"] = "source", ["digest"] = new JsonObject { ["gitCommit"] = commit } };
        if (sources.Changes.Length > 0)
        {
            source["annotations"] = new JsonObject { ["modified"] = true };
        }
        return source;
    }

    // https://github.com/in-toto/attestation/blob/main/spec/v1/digest_set.md
    private string HashOfJars()
    {
        var jars = Checksums.Of(KafkaArchive.Jars(kafka), KafkaArchive.Pattern);
        return Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(jars)));
    }
}
