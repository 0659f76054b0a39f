using System.Text.Json;
using Billing.LocalStack;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Monitoring;

/// <summary>The Prometheus server of a stack, which scrapes every service of the stack with the configuration of
/// deploy/monitoring.</summary>
internal static class LocalPrometheus
{
    /// <summary>The variable that names the folder of <c>prometheus</c> and <c>promtool</c>.</summary>
    public const string FolderVariable = "BILLING_PROMETHEUS_BIN";

    public const string Name = "prometheus";

    /// <summary>Starts Prometheus and returns when it is ready.</summary>
    public static async Task<(ChildProcess Process, string Address)> StartAsync(
        BillingStack stack, CancellationToken cancellationToken)
    {
        var program = Program();
        var folder = stack.Folder.CreateSubfolder("monitoring");
        await new Tool("cp").RunAsync(
            ["-r", "--", Path.Combine(AppContext.BaseDirectory, "monitoring") + "/.", folder], cancellationToken);
        if (stack.Credentials is { } credentials)
        {
            await File.AppendAllTextAsync(
                Path.Combine(folder, "prometheus.yml"),
                $"    tls_config:\n      ca_file: {credentials.CaFile}\n", cancellationToken);
        }
        var targets = Directory.CreateDirectory(Path.Combine(folder, "targets"));
        await File.WriteAllTextAsync(Path.Combine(targets.FullName, "stack.json"), Targets(stack), cancellationToken);
        using var ports = new FreePorts();
        // Released before the start: unlike .NET and Java, Prometheus cannot share a reserved port.
        var port = ports.Take();
        ports.Dispose();
        var listen = $"127.0.0.1:{port}";
        var process = ChildProcess.Start(new ChildProcessStart(
            Name, program,
            [
                "--config.file=" + Path.Combine(folder, "prometheus.yml"),
                "--storage.tsdb.path=" + Path.Combine(folder, "data"),
                "--web.listen-address=" + listen, "--log.level=warn",
            ],
            stack.Folder.LogFile(Name))
        { Detached = true });
        try
        {
            await process.WaitUntilAnsweredAsync($"http://{listen}/-/ready", cancellationToken);
        }
        catch
        {
            process.Kill();
            throw;
        }
        return (process, "http://" + listen);
    }

    /// <summary>Returns the services in the format of Prometheus' file_sd_configs.</summary>
    public static string Targets(BillingStack stack) => JsonSerializer.Serialize(stack.Services.Select(service => new
    {
        targets = new[] { AddressOf(service).Authority },
        labels = new Dictionary<string, string>
        {
            ["tier"] = service.Process.Name.Split('-')[0],
            ["__scheme__"] = AddressOf(service).Scheme,
        },
    }));

    private static Uri AddressOf(ServiceProcess service) =>
        new(service.AdminAddress ?? service.RestAddress ?? service.Address);

    private static string Program()
    {
        var folder = Environment.GetEnvironmentVariable(FolderVariable) is { Length: > 0 } named ? named : "/usr/bin";
        var program = Path.Combine(folder, Name);
        return File.Exists(program)
            ? program
            : throw new StackException(
                $"Prometheus is not at {program}: set {FolderVariable} to the folder of its programs");
    }
}
