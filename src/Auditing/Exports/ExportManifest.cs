using System.Text.Json;
using System.Text.Json.Serialization;

namespace Billing.Auditing.Exports;

/// <summary>What an export of the events says about itself: <c>manifest.json</c> in its folder.</summary>
/// <param name="Days">The days that are complete, in order.</param>
public sealed record ExportManifest(IReadOnlyList<ExportedDay> Days)
{
    /// <summary>The name of its file.</summary>
    public const string FileName = "manifest.json";

    /// <summary>Reads the manifest of a folder; an empty one if there is none.</summary>
    /// <exception cref="FormatException">It is no manifest; the message names the file.</exception>
    public static ExportManifest Read(string folder)
    {
        var file = Path.Combine(folder, FileName);
        try
        {
            return File.Exists(file)
                ? JsonSerializer.Deserialize(File.ReadAllBytes(file), ExportJson.Default.ExportManifest)!
                : new ExportManifest([]);
        }
        catch (JsonException e)
        {
            throw new FormatException($"'{file}' is not the manifest of an export: {e.Message}", e);
        }
    }

    /// <summary>Its JSON.</summary>
    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, ExportJson.Default.ExportManifest);

    /// <summary>This manifest with one more day, or with another state of one.</summary>
    public ExportManifest With(ExportedDay day) =>
        new([.. Days.Where(d => d.Date != day.Date).Append(day).OrderBy(d => d.Date)]);
}

/// <summary>One day of an export.</summary>
/// <param name="Date">The day, in UTC, on which the database stored the events.</param>
/// <param name="Events">Number of events.</param>
/// <param name="Kinds">Number of events of each kind.</param>
/// <param name="Sums">The sum of their amounts, by currency and kind, exact, with the decimals of the currency.</param>
/// <param name="OnHold">The sum of what was on hold on the account after each event, by currency, likewise.</param>
/// <param name="First">The first event; null if there is none.</param>
/// <param name="Last">The last event; null if there is none.</param>
/// <param name="Files">The files with the day's events, one for each format.</param>
public sealed record ExportedDay(
    DateOnly Date,
    long Events,
    SortedDictionary<string, long> Kinds,
    SortedDictionary<string, SortedDictionary<string, string>> Sums,
    SortedDictionary<string, string> OnHold,
    ExportedPosition? First,
    ExportedPosition? Last,
    IReadOnlyList<ExportedFile> Files)
{
    /// <summary>Its JSON.</summary>
    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, ExportJson.Default.ExportedDay);
}

/// <summary>The place of an event in a day.</summary>
/// <param name="StoredAt">When the database stored it.</param>
/// <param name="Account">Its account, e.g. <c>visa/acct-42</c>.</param>
/// <param name="Version">Its version in the account.</param>
public sealed record ExportedPosition(string StoredAt, string Account, long Version);

/// <summary>A file of an export.</summary>
/// <param name="Name">Its name in the folder.</param>
/// <param name="Sha256">The SHA-256 of its content, in hexadecimal digits.</param>
/// <param name="Bytes">Its length.</param>
public sealed record ExportedFile(string Name, string Sha256, long Bytes);

[JsonSourceGenerationOptions(
    WriteIndented = true, PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    RespectNullableAnnotations = true, RespectRequiredConstructorParameters = true)]
[JsonSerializable(typeof(ExportManifest))]
internal sealed partial class ExportJson : JsonSerializerContext;
