using Billing.LocalStack.Processes;

namespace Billing.Cli.Release.Archives;

/// <summary>Archives that have the same bytes for the same content: order, owner, mode and time do not
/// depend on this machine.</summary>
internal static class Archive
{
    public static Task PackAsync(
        string parent, string folder, string archive, DateTimeOffset time, CancellationToken cancellationToken) =>
        new Tool("tar").RunAsync(
            [
                "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX",
                $"--mtime=@{time.ToUnixTimeSeconds()}", "--format=gnu",
                // Without the name of the file and the time of its creation.
                "--use-compress-program=gzip -n",
                "--force-local", "-C", parent, "-cf", archive, "--", folder,
            ],
            cancellationToken);
}
