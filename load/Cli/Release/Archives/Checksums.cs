using Billing.Operator.Files;

namespace Billing.Cli.Release.Archives;

/// <summary>Checksums of files, as the program sha256sum prints and checks them.</summary>
internal static class Checksums
{
    public const string FileName = "SHA256SUMS";

    /// <summary>Writes those of all other files of a release into it.</summary>
    public static async Task WriteAsync(string release, CancellationToken cancellationToken)
    {
        File.Delete(Path.Combine(release, FileName));
        await File.WriteAllTextAsync(Path.Combine(release, FileName), Of(release, "*"), cancellationToken);
    }

    /// <summary>Returns a line for each file of a folder whose name is like a pattern.</summary>
    public static string Of(string folder, string pattern) => string.Concat(
        from file in Directory.EnumerateFiles(folder, pattern).Order(StringComparer.Ordinal)
        select $"{Of(file)}  {Path.GetFileName(file)}\n");

    /// <summary>Returns the SHA-256 of a file, in hexadecimal digits.</summary>
    public static string Of(string file) => FileHash.Of(file);
}
