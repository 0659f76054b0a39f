using System.CommandLine;
using Billing.Operator.Arguments;

namespace Billing.Operator.Doctor;

/// <summary><c>doctor</c>: asks a running platform what about it is open, old, unlimited, not backed
/// up or not watched.</summary>
internal static class DoctorCommand
{
    public static Command Create()
    {
        var proxies = ListFlags.Addresses("--proxies", "Addresses at which callers reach the proxies over gRPC");
        var operators = ListFlags.Addresses(
            "--operators",
            "Addresses of health and metrics: Billing:Admin:Url or Billing:Rest:Url of proxies, Urls of "
                + "backends and webhooks");
        var prometheus = Flags.Text("--prometheus", "Address of the Prometheus that watches the platform", "URL");
        var (kafka, postgres) = (KafkaFlags.Brokers(), Flags.EventStore());
        kafka.Description =
            "Brokers; their other settings, such as credentials, are those of appsettings.json in this folder or of "
            + "the environment";
        postgres.Description =
            "Connection string of the event store; of several databases, each as NAME:CONNECTION with a "
            + "--postgres of its own";
        var command = new Command(
            "doctor",
            "Asks the stack in the background, or what the options name, what is open, old, unlimited, "
                + "not backed up or not watched. Exits with 1 if something is serious.")
        {
            proxies, operators, prometheus, kafka, postgres,
        };
        return command.Does(async (parsed, cancellationToken) =>
        {
            var isNamed = new[] { (Option)proxies, operators, prometheus, kafka, postgres }.Any(
                option => parsed.GetResult(option) is { Implicit: false });
            var stack = isNamed ? null : await StackInBackground.ReadAsync()
                ?? throw new CommandException(
                    "No stack is running, and no option names a platform; see ./billing doctor --help.");
            var findings = new List<Finding>();
            foreach (var proxy in stack?.Proxies ?? parsed.GetValue(proxies) ?? [])
            {
                findings.AddRange(await ProxyChecks.OfCallersAsync(proxy, TimeProvider.System));
            }
            findings.AddRange(await ProxyChecks.OfOperatorsAsync(stack?.Operators ?? parsed.GetValue(operators) ?? []));
            foreach (var (name, connection) in stack?.Databases ?? parsed.GetValue(postgres)
                ?? new Dictionary<string, string>())
            {
                findings.AddRange(await PostgresChecks.OfAsync(name, connection, cancellationToken));
            }
            if (stack is { BootstrapServers: not null } || parsed.GetValue(kafka) is not null)
            {
                findings.AddRange(await KafkaChecks.OfAsync(
                    await KafkaFlags.ReadAsync(stack?.BootstrapServers ?? parsed.GetValue(kafka)),
                    TimeProvider.System));
            }
            findings.AddRange(await MonitoringChecks.OfAsync(
                stack is null ? parsed.GetValue(prometheus) : stack.Prometheus, cancellationToken));
            foreach (var finding in findings.OrderByDescending(finding => finding.IsSerious))
            {
                await Console.Out.WriteLineAsync(finding.ToString());
            }
            return findings.Exists(finding => finding.IsSerious) ? 1 : 0;
        });
    }
}
