using System.Diagnostics;
using Billing.Driver;
using Billing.LocalStack.Processes;

namespace Billing.Measuring.Loads;

/// <summary>Runs a load driver on another machine, over SSH and without a question: the machine has the released client
/// in <see cref="Program"/>, and lets this user log in with a key.</summary>
internal static class RemoteHost
{
    /// <summary>The client's program on the machine, where the deployment installs it.</summary>
    public const string Program = "/opt/billing/client/Billing.Driver";

    private static readonly string[] Options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=60"];

    /// <summary>Starts a driver, whose journal is copied to where the load names it when the load has ended.</summary>
    /// <param name="host">The machine, as <c>ssh</c> takes it, e.g. <c>ubuntu@10.0.1.7</c>.</param>
    /// <exception cref="StackException">The machine cannot be reached.</exception>
    public static async Task<WorkerProcess> StartAsync(string host, LoadSpec spec, CancellationToken cancellationToken)
    {
        var folder = (await RunAsync(host, "mktemp -d /tmp/billing-load-XXXXXXXX", cancellationToken)).Trim();
        var bytes = Convert.ToBase64String(WorkerProcess.BytesOf(spec with { Journal = folder + "/journal.csv" }));
        await RunAsync(host, $"echo {bytes} | base64 -d > {folder}/spec.json", cancellationToken);
        var start = new ProcessStartInfo(
            "ssh", [.. Options, host, $"{Program} {WorkerProcess.Command} {folder}/spec.json {folder}/result.json"]);
        return WorkerProcess.Start(
            start,
            async () =>
            {
                await FetchAsync(host, folder + "/journal.csv", spec.Journal!);
                return Convert.FromBase64String(
                    await RunAsync(host, $"base64 {folder}/result.json", CancellationToken.None));
            },
            // A machine that is gone keeps it.
            () => new Tool("ssh").TryAsync([.. Options, host, "rm -rf " + folder], CancellationToken.None));
    }

    private static async Task<string> RunAsync(string host, string command, CancellationToken cancellationToken)
    {
        var (exitCode, output, errors) = await new Tool("ssh").TryAsync([.. Options, host, command], cancellationToken);
        return exitCode == 0 ? output : throw new StackException($"--client-hosts: {host}: {errors.Trim()}");
    }

    private static async Task FetchAsync(string host, string file, string to)
    {
        var (exitCode, _, errors) = await new Tool("sh").TryAsync(
            ["-c", "to=$1; shift; exec ssh \"$@\" > \"$to\"", "sh", to, .. Options, host, "cat " + file],
            CancellationToken.None);
        if (exitCode != 0)
        {
            throw new StackException($"--client-hosts: {host}: the journal {file} cannot be read: {errors.Trim()}");
        }
    }
}
