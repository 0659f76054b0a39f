using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Measuring.Driving;
using Billing.Measuring.Processes;
using Spectre.Console;

namespace Billing.Measuring.Comparing.Eda;

/// <summary>Compares the same services reached through Kafka and by direct calls. Both stacks run at the same time and are loaded
/// alternately with the same load.</summary>
internal sealed class EdaComparison(EdaOptions options, Measurement measurement, IAnsiConsole console, TimeProvider time)
{
    private const int Connections = 6;
    private const int LongRoundsMax = 3;
    private const int OverloadS = 5;
    private const double DeadlineS = 10;

    private readonly List<EdaCase> _cases = [];
    private readonly List<AuditCounts> _audits = [];

    /// <summary>Measures, prints the figures and writes the results.</summary>
    /// <returns>0 if no request failed in the ramps and the long run and the audits of both sides are clean; 130 if it was
    /// stopped. </returns>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        measurement.RunAsync(EdaResult.Format, MeasureAsync, Result, cancellationToken);

    private EdaResult Result(RunInfo run) => new()
    {
        Run = run,
        Protocol = options.Protocol,
        Proxies = options.Size,
        Backends = options.Size,
        KafkaBalanceBackends = options.Size,
        Rounds = options.Rounds,
        Audits = _audits,
        Cases = [.. _cases.Where(c => c.Kafka.Rounds.Count > 0 && c.Direct.Rounds.Count > 0)],
    };

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        await using var kafka = new Side("kafka", await Starting.StackAsync(Stack("kafka"), console, cancellationToken));
        await using var direct = new Side("direct", await Starting.StackAsync(Stack("direct"), console, cancellationToken));
        foreach (var requests in options.Ramps)
        {
            await RunCaseAsync(EdaPhase.Ramped, requests, options.Rounds, kafka, direct,
                side => side.DriveAsync(Rated(side, requests, 1) with { Amount = requests }, cancellationToken), cancellationToken);
        }
        var rounds = Math.Min(options.Rounds, LongRoundsMax);
        await RunCaseAsync(EdaPhase.Long, options.Rate, rounds, kafka, direct,
            side => side.DriveAsync(Rated(side, options.Rate, options.During.TotalSeconds), cancellationToken), cancellationToken);
        await RunCaseAsync(EdaPhase.Overload, options.OverloadRate, rounds, kafka, direct,
            side => side.DriveAsync(Rated(side, options.OverloadRate, OverloadS), cancellationToken), cancellationToken);
        await RunCaseAsync(EdaPhase.BackendKilled, options.Rate, rounds, kafka, direct,
            side => KillingAsync(side, cancellationToken), cancellationToken);
        foreach (var side in new[] { kafka, direct })
        {
            _audits.Add(await StoreAudit.AuditAsync(side.Stack, [], side.Payments, console, cancellationToken));
        }
    }

    private async Task RunCaseAsync(
        EdaPhase phase, int load, int rounds, Side kafka, Side direct, Func<Side, Task<DriveFigures>> measure,
        CancellationToken cancellationToken)
    {
        var (ofKafka, ofDirect) = (new List<EdaRound>(), new List<EdaRound>());
        _cases.Add(new EdaCase(phase, load, new EdaSide(ofKafka), new EdaSide(ofDirect)));
        await Repeats.RunAsync<Side, DriveFigures>(
            [kafka, direct], rounds, (side, _) => measure(side),
            (side, figures) =>
            {
                (side == kafka ? ofKafka : ofDirect).Add(EdaRound.Of(figures));
                console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                    $"{phase} {load}, {side.Name}: mean {figures.Latency.MeanMs:0.0} ms, p99 {figures.Latency.P99Ms:0.0} ms, max {figures.Latency.MaxMs:0} ms, failed {figures.ErrorPercent:0.00} %"));
            },
            cancellationToken);
    }

    /// <summary>Loads a side, kills its first backend during the load, and restarts it afterwards.</summary>
    private async Task<DriveFigures> KillingAsync(Side side, CancellationToken cancellationToken)
    {
        var victim = side.Stack.Services.First(s => s.Number == 1 && s.Role is ServiceRole.PaymentBackend or ServiceRole.DirectBackend);
        await using var kill = new DelayedKill(victim.Process, EdaResult.KillAfter, time);
        var figures = await side.DriveAsync(Rated(side, options.Rate, EdaResult.KillRun.TotalSeconds), cancellationToken, kill);
        await side.Stack.AddAsync(victim.Role, victim.Number, cancellationToken);
        return figures;
    }

    private static DriveSpec Rated(Side side, int rate, double seconds) => new()
    {
        Addresses = side.Stack.ProxyAddresses,
        Connections = Connections,
        RatePerS = rate,
        DurationS = seconds,
        WarmUpS = 1,
        DeadlineS = DeadlineS,
    };

    private StackOptions Stack(string transport) => new()
    {
        Proxies = options.Size,
        PaymentBackends = options.Size,
        BalanceBackends = transport == "kafka" ? options.Size : 1,
        Transport = transport,
        Protocol = options.Protocol,
    };

    /// <summary>Kills a process some time after the first measured request, when the load tool has started and warmed up.
    /// </summary>
    private sealed class DelayedKill(ChildProcess victim, TimeSpan after, TimeProvider time) : IMeasurementObserver, IAsyncDisposable
    {
        private readonly CancellationTokenSource _ended = new();
        private Task _killing = Task.CompletedTask;

        public Task BeginAsync(CancellationToken cancellationToken)
        {
            _killing = KillAsync();
            return Task.CompletedTask;
        }

        public async Task EndAsync()
        {
            await _ended.CancelAsync();
            await _killing;
        }

        public async ValueTask DisposeAsync()
        {
            await EndAsync();
            _ended.Dispose();
        }

        private async Task KillAsync()
        {
            try
            {
                await Task.Delay(after, time, _ended.Token);
                victim.Kill();
            }
            catch (OperationCanceledException)
            {
                // The run was stopped before the kill.
            }
        }
    }

    private sealed class Side(string name, BillingStack stack) : IAsyncDisposable
    {
        private readonly DriveFleet _fleet = new(stack.Folder);

        public string Name => name;

        public BillingStack Stack => stack;

        public SentPayments Payments => _fleet.Payments;

        public Task<DriveFigures> DriveAsync(DriveSpec spec, CancellationToken cancellationToken, IMeasurementObserver? watch = null) =>
            _fleet.RunAsync(spec, 1, Programs.Of(stack), cancellationToken, watch);

        public ValueTask DisposeAsync() => stack.DisposeAsync();
    }
}
