using System.Security.Cryptography;
using System.Text;

namespace Billing.Webhooks.Security;

/// <summary>Signs events as the specification Standard Webhooks 1 describes: HMAC-SHA256 of the id, the time and
/// the body. Receivers verify it with the specification's libraries
/// (<see href="https://www.standardwebhooks.com"/>). Thread-safe.</summary>
/// <param name="secrets">One secret, or two separated by white space.</param>
internal sealed class WebhookSignature(string secrets)
{
    private const string Prefix = "whsec_";
    private const int KeyBytesMin = 24;
    private const int KeyBytesMax = 64;

    private readonly byte[][] _keys = [.. Split(secrets).Select(secret => Key(secret)!)];

    /// <summary>The header <c>webhook-signature</c>: a signature with each secret, separated by spaces.</summary>
    public string Sign(string id, string timestamp, byte[] body)
    {
        byte[] signed = [.. Encoding.UTF8.GetBytes($"{id}.{timestamp}."), .. body];
        return string.Join(' ', _keys.Select(key => "v1," + Convert.ToBase64String(HMACSHA256.HashData(key, signed))));
    }

    /// <summary>Why secrets are refused, as the end of a sentence without any of them; null if they are not.</summary>
    public static string? Problem(string secrets) =>
        Split(secrets) is { Length: 1 or 2 } given && Array.TrueForAll(given, secret => Key(secret) is not null)
            ? null
            : $"must be {Prefix} followed by {KeyBytesMin} to {KeyBytesMax} random bytes in base64; "
                + "or two of them, separated by a space, while one is replaced.";

    private static string[] Split(string secrets) =>
        secrets.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);

    private static byte[]? Key(string secret)
    {
        var key = new byte[secret.Length];
        return secret.StartsWith(Prefix, StringComparison.Ordinal)
            && Convert.TryFromBase64String(secret[Prefix.Length..], key, out var length)
            && length is >= KeyBytesMin and <= KeyBytesMax
            ? key[..length]
            : null;
    }
}
