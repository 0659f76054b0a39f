using System.Security.Cryptography;

namespace Billing.Rehearsal.Machines;

/// <summary>The parts of a text in PEM.</summary>
internal static class PemBlocks
{
    /// <summary>The label and the base64 of each part, in order; none if the text is not in PEM.</summary>
    public static IEnumerable<(string Label, string Base64)> Of(string text)
    {
        for (; PemEncoding.TryFind(text, out var fields); text = text[fields.Location.End..])
        {
            yield return (text[fields.Label], text[fields.Base64Data]);
        }
    }
}
