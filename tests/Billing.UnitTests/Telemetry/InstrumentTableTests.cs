using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;
using Billing.Backends.Telemetry;
using Billing.Hosting;
using Billing.Messaging.Telemetry;
using Billing.Proxy;
using Billing.Proxy.Security;
using Billing.Proxy.Security.Certificates;
using Billing.Proxy.Security.Tokens;
using Billing.Proxy.Telemetry;
using Billing.UnitTests.Proxy;
using Billing.UnitTests.Testing;
using Billing.Webhooks.Telemetry;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Telemetry;

/// <summary>The table in docs/operations/observe.md lists exactly the existing instruments.</summary>
public sealed class InstrumentTableTests
{
    private const string Head = "| instrument | kind | unit |";

    [Fact]
    public void The_table_lists_exactly_the_existing_instruments() =>
        Assert.Equal(Instruments(), Table(Repository.Lines("docs/operations/observe.md")));

    [Fact]
    public void A_missing_or_wrong_row_is_detected()
    {
        var lines = Repository.Lines("docs/operations/observe.md");
        var row = Array.FindIndex(lines, line => line.StartsWith("| `billing.batch.size`", StringComparison.Ordinal));

        Assert.NotEqual(Instruments(), Table([.. lines[..row], .. lines[(row + 1)..]]));
        Assert.NotEqual(Instruments(), Table(
            [.. lines[..row], lines[row].Replace("{command}", "s", StringComparison.Ordinal), .. lines[(row + 1)..]]));
    }

    private static List<(string Name, string Kind, string Unit)> Table(string[] lines) =>
    [
        .. lines.SkipWhile(line => !line.StartsWith(Head, StringComparison.Ordinal)).Skip(2)
            .TakeWhile(line => line.StartsWith('|'))
            .Select(line => line.Split('|', StringSplitOptions.TrimEntries))
            .Select(cells => (cells[1].Trim('`'), cells[2], cells[3].Trim('`')))
            .Order(),
    ];

    private static List<(string Name, string Kind, string Unit)> Instruments()
    {
        var found = new HashSet<(string, string, string)>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, _) =>
            {
                if (instrument.Meter.Name is CallMetrics.MeterName or MessagingMetrics.MeterName
                    or BackendMetrics.MeterName or ClockWatch.MeterName or WebhookMetrics.MeterName)
                {
                    lock (found)
                    {
                        found.Add((instrument.Name, Kind(instrument), instrument.Unit ?? ""));
                    }
                }
            },
        };
        listener.Start();
        using var clock = new ClockWatch(TimeProvider.System, Supervision.New(), NullLogger<ClockWatch>.Instance);
        _ = clock.RunAsync(new CancellationToken(canceled: true));
        foreach (var holder in (Type[])
        [
            typeof(MessagingMetrics), typeof(PartitionMetrics), typeof(BackendMetrics),
            typeof(StreamMetrics), typeof(WebhookMetrics),
        ])
        {
            RuntimeHelpers.RunClassConstructor(holder.TypeHandle);
        }
        using var services = new ServiceCollection().AddMetrics().BuildServiceProvider();
        using var admission = Admissions.With(new ProxyOptions());
        using var calls = new CallMetrics(
            services.GetRequiredService<IMeterFactory>(), admission, Admissions.Memory);
        var tls = Options.Create(new TlsOptions());
        var auth = Options.Create(new AuthOptions { JwksFile = "none" });
        using var clients = new ClientCertificates(
            tls, new CertificateNames(auth), new SecurityLog(TimeProvider.System, NullLoggerFactory.Instance),
            TimeProvider.System, NullLogger<ClientCertificates>.Instance);
        using var keys = new SigningKeys(
            auth, TimeProvider.System, Supervision.New(), NullLogger<SigningKeys>.Instance);
        KeyMetrics.Report(services.GetRequiredService<IMeterFactory>(), keys);
        CertificateMetrics.Report(
            services.GetRequiredService<IMeterFactory>(),
            new TlsServer(tls, clients, TimeProvider.System, NullLogger<TlsServer>.Instance),
            clients, TimeProvider.System);
        lock (found)
        {
            return [.. found.Order()];
        }
    }

    private static string Kind(Instrument instrument)
    {
        var name = instrument.GetType().Name.Split('`')[0];
        return name == "ObservableCounter" ? "counter"
            : name.StartsWith("Observable", StringComparison.Ordinal) ? "gauge"
            : name == "UpDownCounter" ? "up-down counter"
            : name.ToLowerInvariant();
    }
}
