using System.Globalization;
using System.Text;

namespace Billing.Hosting;

/// <summary>Text of strangers, made fit for logs, terminals and PostgreSQL, which stores no NUL and no half of
/// a surrogate pair.</summary>
public static class UntrustedText
{
    /// <summary>Whether a text has only characters that show: none that control a terminal, end a line, or change how
    /// other characters are shown, such as U+202E, which turns the direction of writing.</summary>
    public static bool IsPrintable(string text)
    {
        foreach (var rune in text.EnumerateRunes())
        {
            if (!IsPrintable(rune))
            {
                return false;
            }
        }
        return true;
    }

    /// <summary>Replaces the characters that do not show by dots.</summary>
    /// <param name="text">The text.</param>
    /// <param name="lengthMax">Of longer text, so many characters are kept, and three dots.</param>
    public static string Printable(string text, int lengthMax = int.MaxValue) => string.Concat(
        (text.Length <= lengthMax ? text : text[..lengthMax] + "...").EnumerateRunes()
            .Select(rune => IsPrintable(rune) ? rune.ToString() : "."));

    private static bool IsPrintable(Rune rune) => Rune.GetUnicodeCategory(rune) is not (
        UnicodeCategory.Control or UnicodeCategory.Format
        or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator);
}
