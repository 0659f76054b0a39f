using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Billing.Cli.Release.Archives;

/// <summary>The form of a release's JSON files, which people read, too.</summary>
internal static class ReleaseJson
{
    private static readonly JsonSerializerOptions Format =
        new() { WriteIndented = true, NewLine = "\n", Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    public static string Text(JsonNode content) => content.ToJsonString(Format) + "\n";
}
