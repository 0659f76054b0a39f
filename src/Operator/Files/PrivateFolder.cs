namespace Billing.Operator.Files;

/// <summary>Folders that only their owner may open.</summary>
internal static class PrivateFolder
{
    /// <summary>The mode of such a folder.</summary>
    public const UnixFileMode Mode = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;

    /// <summary>Creates a folder, or sets the mode of one that is there.</summary>
    /// <returns>Its path.</returns>
    public static string Create(string path)
    {
        Directory.CreateDirectory(path);
        File.SetUnixFileMode(path, Mode);
        return path;
    }
}
