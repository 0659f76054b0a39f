using System.Text.RegularExpressions;

namespace Billing.DeploymentTests.Terraform;

/// <summary>Finds texts that look like secrets.</summary>
internal static partial class Secrecy
{
    /// <summary>Returns the texts that look like secrets, without the rest of their lines.</summary>
    public static IReadOnlyList<string> Find(string text) =>
    [
        .. Assignment().Matches(text).Select(match => match.Value),
        .. Key().Matches(text).Select(match => match.Value),
        .. Random().Matches(text).Select(match => match.Value).Where(word =>
            word.Any(char.IsAsciiDigit) && word.Any(char.IsAsciiLetterUpper) && word.Any(char.IsAsciiLetterLower)),
    ];

    [GeneratedRegex(
        """(password|passwd|pwd|secret|token|credentials?)["']?\s*[=:]\s*["']?[^\s"'$]+""", RegexOptions.IgnoreCase)]
    private static partial Regex Assignment();

    [GeneratedRegex(@"-----BEGIN [A-Z ]+-----|\bA(KIA|SIA)[0-9A-Z]{16}\b|://[^\s/:@]+:[^\s/@]+@")]
    private static partial Regex Key();

    [GeneratedRegex(@"(?<![\w/.-])[A-Za-z0-9+/]{20,}={0,2}(?![\w.-])")]
    private static partial Regex Random();
}
