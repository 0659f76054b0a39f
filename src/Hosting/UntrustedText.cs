using System.Text;

namespace Billing.Hosting;

/// <summary>Text of strangers, made fit for logs, terminals and PostgreSQL, which stores no NUL and no half of
/// a surrogate pair.</summary>
public static class UntrustedText
{
    /// <summary>Replaces control characters by dots.</summary>
    /// <param name="text">The text.</param>
    /// <param name="lengthMax">Of longer text, so many characters are kept, and three dots.</param>
    public static string Printable(string text, int lengthMax = int.MaxValue) => string.Concat(
        (text.Length <= lengthMax ? text : text[..lengthMax] + "...").EnumerateRunes()
            .Select(rune => Rune.IsControl(rune) ? "." : rune.ToString()));
}
