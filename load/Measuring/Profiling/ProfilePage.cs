using Billing.Measuring.Processes;
using Billing.Measuring.Tracing;
using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Profiling;

/// <summary>The page of a profile: the time and the costs of one payment, by part.</summary>
internal static class ProfilePage
{
    private const int ThreadsShown = 5;
    private const int StatementsShown = 8;
    private const int StatementLength = 72;

    private static readonly string[] WaitsShown = ["In the queue", "To the socket", "Round trip"];

    public static Report Of(ProfileResult result) => new()
    {
        Title = "Time and costs of one payment",
        Subtitle = result.Cases.Count == 0
            ? "Nothing was measured."
            : string.Join(", ", result.Cases.Select(c => $"{Numbers.Whole(c.PerSecond)}/s with {Numbers.Whole(c.InFlight)} in flight")) + ".",
        Facts =
        [
            .. Facts.Of(result.Run), StoreAudit.Fact(result.Audits),
            new Fact("Stack", $"{result.Proxies} proxies, {result.PaymentBackends} payment backends, {result.BalanceBackends} balance backends, {result.Partitions} partitions per topic, one broker, {(result.Databases == 1 ? "one database" : $"{result.Databases} databases")}"),
            new Fact("Method", "unary payments in a closed loop, over two connections to each proxy; one payment in sixteen is timed; all costs are per payment"),
            .. result.Missing.Select(missing => new Fact("Not measured", missing)),
        ],
        Sections = result.Cases.Count == 0
            ? []
            : [new Section("", Overall(result), Steps(result)), .. result.Cases.Select(Costs), new Section("PostgreSQL", Writes(result)), new Section("Kafka", Requests(result), Topics(result))],
    };

    private static Table Overall(ProfileResult result) => new()
    {
        Columns = [new Column("In flight"), new Column("Answers", Unit: "/s"), new Column("p50", Unit: "ms"), new Column("p99", Unit: "ms"), new Column("Payments"), new Column("Failed")],
        Rows =
        [
            .. result.Cases.Select(c => new Row(
                Numbers.Whole(c.InFlight), Numbers.Whole(c.PerSecond), Numbers.Significant(c.P50Ms), Numbers.Significant(c.P99Ms), Numbers.Whole(c.Payments),
                Numbers.Whole(c.Failed))),
        ],
    };

    private static Table Steps(ProfileResult result)
    {
        var names = result.Cases.SelectMany(c => c.Steps).Select(s => s.Name).Where(name => !Leg.IsMilestone(name)).Distinct().ToList();
        return Compared(
            "Step, median", "ms", result, names,
            (measured, name) => measured.Steps.FirstOrDefault(s => s.Name == name)?.P50Ms);
    }

    private static Section Costs(ProfileCase measured) => new(
        $"{Numbers.Whole(measured.InFlight)} in flight",
        new Table
        {
            Columns =
            [
                new Column("Programs", Align.Left), new Column("User", Unit: "µs"), new Column("Kernel", Unit: "µs"), new Column("Waits"), new Column("Preempted"),
                new Column("Allocated", Unit: "bytes"), new Column("Collections", Unit: "per million"), new Column("Pause", Unit: "µs"), new Column("Memory", Unit: "MB"),
            ],
            Rows = [.. measured.Programs.Select(ProgramRow), Total(measured.Programs) with { IsHighlighted = true }],
            Note = "Waits and Preempted are voluntary and involuntary context switches. Collections are of generations 0, 1, 2, per million payments.",
        },
        new StackedBars(
            "Processor time per payment", new Axis("Processor time", "µs"), ["user", "kernel"],
            [.. measured.Programs.Select(p => new Stack(p.Role, p.UserUs, p.KernelUs))])
        {
            Name = $"processor-{measured.InFlight}",
        },
        new Table
        {
            Columns = [new Column("Busiest threads", Align.Left), new Column("Program", Align.Left), new Column("Threads"), new Column("User", Unit: "µs"), new Column("Kernel", Unit: "µs")],
            Rows =
            [
                .. measured.Programs.SelectMany(p => p.Threads.Select(thread => (p.Role, Thread: thread)))
                    .OrderByDescending(t => t.Thread.UserUs + t.Thread.KernelUs).Take(ThreadsShown)
                    .Select(t => new Row(
                        t.Thread.Name, t.Role, Numbers.Whole(t.Thread.Count), Numbers.Significant(t.Thread.UserUs), Numbers.Significant(t.Thread.KernelUs))),
            ],
        },
        Waits(measured),
        new Table
        {
            Columns = [new Column("Costliest statements", Align.Left), new Column("Calls"), new Column("Time", Unit: "µs"), new Column("Rows")],
            Rows =
            [
                .. measured.Database.Statements.Take(StatementsShown).Select(s => new Row(
                    Shortened(s.Text), Numbers.Significant(s.Calls), Numbers.Significant(s.Us), Numbers.Significant(s.Rows))),
            ],
        });

    private static Table Waits(ProfileCase measured) => new()
    {
        Columns =
        [
            new Column("Kafka clients", Align.Left), new Column("Program", Align.Left),
            .. WaitsShown.SelectMany(wait => new[] { new Column(wait + ": p50", Unit: "ms"), new Column("p99", Unit: "ms") }),
        ],
        Rows =
        [
            .. measured.Clients.Select(client => new Row(
            [
                client.Client, client.Role,
                .. new[] { client.Queue, client.Socket, client.RoundTrip }
                    .SelectMany(wait => new[] { new Cell(Shown(wait?.P50Ms)), new Cell(Shown(wait?.P99Ms)) }),
            ])),
        ],
        Note = "In the queue: until a record is in a request. The longest of a role's processes, over the last seconds. A round trip of a consumer includes the broker's wait for records.",
    };

    private static Row ProgramRow(ProgramUse use) => new(
        $"{use.Role} ({use.Processes})", Numbers.Significant(use.UserUs), Numbers.Significant(use.KernelUs), Numbers.Significant(use.VoluntarySwitches),
        Numbers.Significant(use.ForcedSwitches), Shown(use.Runtime?.AllocatedBytes),
        use.Runtime is { } runtime ? string.Join(", ", new[] { runtime.Gen0, runtime.Gen1, runtime.Gen2 }.Select(n => Numbers.Whole(n * 1e6))) : Numbers.None,
        Shown(use.Runtime?.PauseUs), Shown(use.MemoryMb));

    private static Row Total(IReadOnlyList<ProgramUse> programs) => new(
        "all", Numbers.Significant(programs.Sum(p => p.UserUs)), Numbers.Significant(programs.Sum(p => p.KernelUs)),
        Numbers.Significant(programs.Sum(p => p.VoluntarySwitches)), Numbers.Significant(programs.Sum(p => p.ForcedSwitches)),
        Numbers.Significant(programs.Sum(p => p.Runtime?.AllocatedBytes ?? 0)), "", Numbers.Significant(programs.Sum(p => p.Runtime?.PauseUs ?? 0)),
        Numbers.Significant(programs.Sum(p => p.MemoryMb ?? double.NaN)));

    private static Table Writes(ProfileResult result) => Compared(
        "Per payment", "", result, ["writing transactions", "statements", "statements' time (µs)", "write-ahead log (bytes)"],
        (measured, name) => name switch
        {
            "writing transactions" => measured.Database.Writes,
            "write-ahead log (bytes)" => measured.Database.LogBytes,
            _ when measured.Database.Statements.Count == 0 => null,
            "statements" => measured.Database.Statements.Sum(s => s.Calls),
            _ => measured.Database.Statements.Sum(s => s.Us),
        });

    private static Table Requests(ProfileResult result)
    {
        var table = Compared(
            "Requests per payment", "", result, ByLargestCount(result, c => c.Broker.Requests.ToDictionary()),
            (measured, kind) => measured.Broker.Requests.TryGetValue(kind, out var count) ? count : null);
        return table with
        {
            Rows = [.. table.Rows, new Row([new Cell("all"), .. result.Cases.Select(c => new Cell(Numbers.Significant(c.Broker.Requests.Values.Sum())))]) { IsHighlighted = true }],
        };
    }

    private static Table Topics(ProfileResult result) => new()
    {
        Columns =
        [
            new Column("Topic", Align.Left),
            .. result.Cases.SelectMany(c => new[] { new Column($"{Numbers.Whole(c.InFlight)} in flight: records"), new Column("per batch") }),
        ],
        Rows =
        [
            .. ByLargestCount(result, c => c.Broker.Topics.ToDictionary(t => t.Key, t => t.Value.Records)).Select(topic => new Row(
            [
                topic,
                .. result.Cases.SelectMany(c => new[] { Shown(c.Broker.Topics.GetValueOrDefault(topic)?.Records), Shown(c.Broker.Topics.GetValueOrDefault(topic)?.RecordsInBatch) })
                    .Select(text => new Cell(text)),
            ])),
        ],
        Note = "Records per payment. Records that the broker writes itself are not in a client's batches.",
    };

    private static List<string> ByLargestCount(ProfileResult result, Func<ProfileCase, IReadOnlyDictionary<string, double>> counts) =>
        [.. result.Cases.SelectMany(counts).GroupBy(c => c.Key, c => c.Value, StringComparer.Ordinal).OrderByDescending(c => c.Max()).Select(c => c.Key)];

    private static Table Compared(string heading, string unit, ProfileResult result, IEnumerable<string> names, Func<ProfileCase, string, double?> value) => new()
    {
        Columns = [new Column(heading, Align.Left), .. result.Cases.Select(c => new Column($"{Numbers.Whole(c.InFlight)} in flight", Unit: unit))],
        Rows = [.. names.Select(name => new Row([new Cell(name), .. result.Cases.Select(c => new Cell(Shown(value(c, name))))]))],
    };

    private static string Shown(double? value) => value is { } number ? Numbers.Significant(number) : Numbers.None;

    private static string Shortened(string statement) => statement.Length > StatementLength ? statement[..(StatementLength - 1)] + "…" : statement;
}
