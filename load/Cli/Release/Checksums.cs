using System.Security.Cryptography;

namespace Billing.Cli.Release;

/// <summary>Checksums of files, as the program sha256sum prints and checks them.</summary>
internal static class Checksums
{
    public const string FileName = "SHA256SUMS";

    /// <summary>Returns a line for each file of a folder.</summary>
    /// <param name="extensions">Which files: those of the first extension come first.</param>
    public static string Of(string folder, params string[] extensions) => string.Concat(
        from extension in extensions
        from file in Directory.EnumerateFiles(folder, "*" + extension).Order(StringComparer.Ordinal)
        select $"{Of(file)}  {Path.GetFileName(file)}\n");

    /// <summary>Returns the SHA-256 of a file, in hexadecimal digits.</summary>
    public static string Of(string file)
    {
        using var content = File.OpenRead(file);
        return Convert.ToHexStringLower(SHA256.HashData(content));
    }
}
