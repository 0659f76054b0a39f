namespace Billing.Rehearsal.Listening;

/// <summary>A text that nobody may read on the network.</summary>
/// <param name="Name">What it is; findings have the name and never the text.</param>
/// <param name="Text">Its bytes, each as the character of that number (Latin-1), at least one.</param>
/// <param name="Form">What has to follow: <c>9</c> is a digit, <c>x</c> a digit of a lower-case hexadecimal number,
/// <c>b</c> a character of base64url, everything else itself. With it a short text is not found in encrypted bytes,
/// which are random: together they should be 40 bits at least.</param>
internal sealed record Needle(string Name, string Text, string Form = "")
{
    public int Length => Text.Length + Form.Length;

    /// <summary>Whether a text begins with it.</summary>
    public bool Begins(ReadOnlySpan<char> text)
    {
        if (text.Length < Length || !text.StartsWith(Text, StringComparison.Ordinal))
        {
            return false;
        }
        for (var index = 0; index < Form.Length; index++)
        {
            if (!Fits(Form[index], text[Text.Length + index]))
            {
                return false;
            }
        }
        return true;
    }

    private static bool Fits(char form, char character) => form switch
    {
        '9' => char.IsAsciiDigit(character),
        'x' => char.IsAsciiHexDigitLower(character),
        'b' => char.IsAsciiLetterOrDigit(character) || character is '-' or '_',
        _ => character == form,
    };
}
