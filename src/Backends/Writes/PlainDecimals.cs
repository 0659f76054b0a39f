using System.Text.Json;
using System.Text.Json.Serialization;

namespace Billing.Backends.Writes;

/// <summary>Writes numbers without zeros at their end, which an amount has or lacks depending on what it was computed
/// from. So a published event, which states no such zeros, can be stored again with the hash that it had.</summary>
internal sealed class PlainDecimals : JsonConverter<decimal>
{
    // With as many decimal places as a number may have: the quotient has no more than it needs.
    private const decimal One = 1.0000000000000000000000000000m;

    public override decimal Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        reader.GetDecimal();

    public override void Write(Utf8JsonWriter writer, decimal value, JsonSerializerOptions options) =>
        writer.WriteNumberValue(value.Scale == 0 ? value : value / One);
}
