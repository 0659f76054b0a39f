using System.Text;
using System.Text.Json;
using Microsoft.IdentityModel.Tokens;

namespace Billing.Proxy.Security.Tokens;

/// <summary>What an issuer of tokens publishes.</summary>
/// <param name="Issuer">Its name, which its tokens have.</param>
/// <param name="Keys">The keys that verify its tokens.</param>
internal sealed record PublishedKeys(string Issuer, IReadOnlyList<SigningKey> Keys)
{
    /// <summary>Reads a key set (RFC 7517). One with no key at all is valid: its issuer has removed them. One whose
    /// keys are all of no use is not, since something else must be wrong with it.</summary>
    /// <exception cref="InvalidDataException">It is no key set, or none of its keys can be used.</exception>
    public static IReadOnlyList<SigningKey> ReadKeys(byte[] document)
    {
        try
        {
            using var json = JsonDocument.Parse(document);
            if (json.RootElement.ValueKind != JsonValueKind.Object
                || !json.RootElement.TryGetProperty("keys", out var keys) || keys.ValueKind != JsonValueKind.Array)
            {
                throw new InvalidDataException("It is not a JSON Web Key Set: it has no list of keys.");
            }
            var published = new JsonWebKeySet(Encoding.UTF8.GetString(document)).Keys;
            List<SigningKey> usable = [.. published.Select(SigningKey.Of).OfType<SigningKey>()];
            return usable.Count > 0 || keys.GetArrayLength() == 0
                ? usable
                : throw new InvalidDataException("It holds no key for signatures.");
        }
        catch (Exception e) when (e is ArgumentException or JsonException)
        {
            throw new InvalidDataException("It is not a JSON Web Key Set: " + e.Message, e);
        }
    }
}

/// <summary>Where the keys of tokens come from.</summary>
internal interface IKeySource : IDisposable
{
    /// <summary>The setting that names it, and what that is set to, for messages.</summary>
    string Name { get; }

    /// <summary>How often it is read at most.</summary>
    TimeSpan Interval { get; }

    /// <summary>Every how many intervals it is read while nothing is wrong.</summary>
    int Every { get; }

    /// <summary>Reads them; as the same object if nothing has changed.</summary>
    /// <exception cref="Exception">They cannot be read (<see cref="IsFault"/>).</exception>
    Task<PublishedKeys> ReadAsync();

    /// <summary>Whether an exception says that keys cannot be read, and not that this program is wrong.</summary>
    static bool IsFault(Exception e) => e is IOException or UnauthorizedAccessException or InvalidDataException
        or HttpRequestException or OperationCanceledException or JsonException or UriFormatException
        or InvalidOperationException;
}
