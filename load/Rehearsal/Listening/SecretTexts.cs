using System.Text;
using Billing.Driver;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Listening;

/// <summary>What must not be readable: accounts, payments, amounts, logins and tokens by their form, and the site's
/// secrets by their values.</summary>
internal static class SecretTexts
{
    /// <summary>A part of a longer value will do.</summary>
    private const int LengthMax = 64;

    /// <summary>Shorter ones would be found by chance; <c>secret</c> of the bootstrap refuses them, too.</summary>
    private const int LengthMin = 8;

    // The first six digits of a transaction id of now (UUID 7) are those of the next hours, too.
    private const int TimeDigits = 6;
    private const string AfterTimeDigits = "xx-xxxx-7xxx-xxxx-xxxxxxxxxxxx";

    /// <summary>What is known by its form, whatever its value is.</summary>
    public static IReadOnlyList<Needle> ByForm()
    {
        var time = Guid.CreateVersion7().ToString()[..TimeDigits];
        var later = $"{Convert.ToInt32(time, 16) + 1:x6}";
        return
        [
            new("an account", RandomRequests.DefaultPrefix, "9"),
            new("a transaction id", time, AfterTimeDigits),
            new("a transaction id", later, AfterTimeDigits),
            // google.type.Money in protobuf: the currency's length and code, and the units' tag.
            new("an amount", "\n\u0003USD\u0010"),
            new("an amount", "\n\u0003EUR\u0010"),
            new("an amount", "\"currency_code\""),
            new("an amount", "\"currencyCode\""),
            new("SQL", "billing.mt_"),
            new("a login at a database", "user\0billing_"),
            // The last message of a client (RFC 5802), without and with its wish for channel binding.
            new("a login by SCRAM", "c=biws,r="),
            new("a login by SCRAM", "c=eSws,r="),
            new("a login by SCRAM", ",i=4096"),
            new("a header with credentials", "uthorization: B"),
            // The head of a JWT is JSON in base64url.
            new("a token", "eyJ", new string('b', 24)),
            new("a private key", "PRIVATE KEY-----"),
        ];
    }

    /// <summary>The values of the secrets that are files of a folder, present and former ones, also in base64; of keys
    /// their lines. Certificates are public.</summary>
    public static IReadOnlyList<Needle> Of(string folder) =>
    [
        .. from file in Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories)
           from needle in Of(Path.GetRelativePath(folder, file), File.ReadAllText(file))
           select needle,
    ];

    private static IEnumerable<Needle> Of(string name, string value)
    {
        var blocks = PemBlocks.Of(value).ToList();
        if (blocks.Count > 0)
        {
            return from block in blocks
                   where block.Label.EndsWith("PRIVATE KEY", StringComparison.Ordinal)
                   from line in block.Base64.Split('\n', StringSplitOptions.TrimEntries)
                   where line.Length >= LengthMin
                   select new Needle($"the key {name}", line);
        }
        return value.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)
            .Where(word => word.Length >= LengthMin)
            .SelectMany(word => InBase64(word).Select(encoded => new Needle($"the secret {name} in base64", encoded))
                .Prepend(new Needle($"the secret {name}", word)))
            .Select(needle => needle with { Text = needle.Text[..Math.Min(needle.Text.Length, LengthMax)] });
    }

    // Base64 of a longer text that contains it, such as a name and a password, looks in three ways, by the number of
    // bytes before it; the characters at its ends depend on its neighbours.
    private static IEnumerable<string> InBase64(string word) =>
        from before in Enumerable.Range(0, 3)
        let bytes = (byte[])[.. new byte[before], .. Encoding.Latin1.GetBytes(word)]
        select Convert.ToBase64String(bytes)[((before * 8 + 5) / 6)..(bytes.Length * 8 / 6)];
}
