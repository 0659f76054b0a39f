using System.Security.Cryptography;

namespace Billing.Operator.Files;

/// <summary>Hashes of files.</summary>
internal static class FileHash
{
    /// <summary>Returns the SHA-256 of a file, in hexadecimal digits.</summary>
    public static string Of(string file)
    {
        using var content = File.OpenRead(file);
        return Convert.ToHexStringLower(SHA256.HashData(content));
    }
}
