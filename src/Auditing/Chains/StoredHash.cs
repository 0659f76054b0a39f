using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace Billing.Auditing.Chains;

/// <summary>Computes the hash of an event from what the store holds, by the definition in docs/tamper-evidence.md and
/// with code of its own: the backends' code would repeat the backends' mistakes and find nothing.</summary>
internal static class StoredHash
{
    private const string Member = "Hash";

    /// <summary>Computes the hash that an event should have.</summary>
    /// <param name="before">The hash of the event before it; empty if it begins a chain.</param>
    /// <param name="stream">Its stream.</param>
    /// <param name="version">Its version.</param>
    /// <param name="type">Its event type.</param>
    /// <param name="content">Its content.</param>
    public static string Of(string before, string stream, long version, string type, JsonElement content)
    {
        var form = new StringBuilder();
        Add(form, 's', before);
        Add(form, 's', stream);
        Add(form, 'n', version.ToString(CultureInfo.InvariantCulture));
        Add(form, 's', type);
        AddObject(form, content.EnumerateObject().Where(member => member.Name != Member));
        return Convert.ToBase64String(SHA256.HashData(Encoding.UTF8.GetBytes(form.ToString())));
    }

    /// <summary>The hash that an event states; null if it states none.</summary>
    public static string? StatedBy(JsonElement content) =>
        content.TryGetProperty(Member, out var stated)
            ? stated.ValueKind == JsonValueKind.String ? stated.GetString()! : ""
            : null;

    private static void AddObject(StringBuilder form, IEnumerable<JsonProperty> members)
    {
        form.Append('{');
        foreach (var member in members.OrderBy(member => member.Name, StringComparer.Ordinal))
        {
            Add(form, 's', member.Name);
            AddValue(form, member.Value);
        }
        form.Append('}');
    }

    private static void AddValue(StringBuilder form, JsonElement value)
    {
        switch (value.ValueKind)
        {
            case JsonValueKind.Object:
                AddObject(form, value.EnumerateObject());
                break;
            case JsonValueKind.String:
                Add(form, 's', value.GetString()!);
                break;
            case JsonValueKind.Number:
                Add(form, 'n', value.GetRawText());
                break;
            default:
                // No event is stored with it, so it has no form, and any other one shows that.
                Add(form, '?', value.GetRawText());
                break;
        }
    }

    private static void Add(StringBuilder form, char kind, string text) =>
        form.Append(CultureInfo.InvariantCulture, $"{kind}{Encoding.UTF8.GetByteCount(text)}:{text}");
}
