using Billing.LocalStack.Processes;
using Billing.Operator.Files;

namespace Billing.Cli.Setup;

/// <summary>A folder that only this user may access, and that disposal deletes.</summary>
internal sealed class TemporaryFolder : IAsyncDisposable
{
    private TemporaryFolder(string path) => Path = path;

    public string Path { get; }

    /// <param name="parent">Where: on the same file system, what is in the folder can be moved to in one step.</param>
    public static TemporaryFolder In(string parent)
    {
        var path = System.IO.Path.Combine(parent, ".billing." + System.IO.Path.GetRandomFileName());
        return new TemporaryFolder(Directory.CreateDirectory(path, PrivateFolder.Mode).FullName);
    }

    public string File(string name) => System.IO.Path.Combine(Path, name);

    // Not Directory.Delete: a machine's file system may contain anything.
    public async ValueTask DisposeAsync() => await new Tool("rm").RunAsync(["-rf", "--", Path], CancellationToken.None);
}
