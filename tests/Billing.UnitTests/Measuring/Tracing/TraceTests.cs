using System.Text.Json;
using Billing.Cli.Commands.Measurements;
using Billing.Contracts;
using Billing.Measuring;
using Billing.Measuring.Tracing;
using Billing.Reporting;
using Billing.Reporting.Pages;
using Billing.UnitTests.Measuring.Experiments;

namespace Billing.UnitTests.Measuring.Tracing;

public sealed class TraceTests : IDisposable
{
    private const long Start = 1_769_860_800_000_000;

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-trace-");

    private string Trace => Path.Combine(_folder.FullName, "trace.csv");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public async Task A_written_trace_is_read_unchanged()
    {
        TracedPayment[] payments = [Paid(0), Paid(1, Moment.Appended), Failed(2)];
        await TraceFile.WriteAsync(Trace, payments);
        var read = TraceFile.Read(Trace);
        Assert.Equal(payments.Select(Line), read.Select(Line));
        Assert.Equal([true, true, false], read.Select(p => p.IsAnswered));
    }

    [Fact]
    public void Columns_are_found_by_name_in_any_order_beside_unknown_columns()
    {
        File.WriteAllText(
            Trace,
            $"outcome,note,version,stream_id,sent_unix_us,transaction_id\nAccepted,x,3,visa/a,7,{Guid.Empty}\n\n");
        var payment = Assert.Single(TraceFile.Read(Trace));
        Assert.Equal((3, "visa/a", 7), (payment.Version, payment.StreamId, payment[Moment.Sent]));
        Assert.False(payment.Has(Moment.Returned));
    }

    [Theory]
    [InlineData("", "does not name the column transaction_id")]
    [InlineData("a,b\n1,2", "does not name the column transaction_id")]
    [InlineData("transaction_id,stream_id,version,outcome,sent_unix_us\n1,2", ":2: has 2 fields")]
    [InlineData("transaction_id,stream_id,version,outcome,sent_unix_us\nx,s,1,o,1", ":2: invalid transaction_id 'x'")]
    [InlineData(
        "transaction_id,stream_id,version,outcome,sent_unix_us\n00000000-0000-0000-0000-000000000000,s,1,o,soon",
        ":2: invalid sent_unix_us 'soon'")]
    public void An_invalid_trace_is_refused_with_file_and_line(string text, string problem)
    {
        File.WriteAllText(Trace, text);
        var e = Assert.Throws<FormatException>(() => TraceFile.Read(Trace));
        Assert.StartsWith(Trace, e.Message, StringComparison.Ordinal);
        Assert.Contains(problem, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_durations_of_the_steps_add_up_to_the_total()
    {
        var payment = Paid(0);
        var legs = Leg.Of([payment]);
        var whole = Leg.Whole([payment]);
        Assert.Equal(
            [
                "wait to be sent", "client → proxy", "proxy → Kafka", "Kafka → backend", "authorise, decide",
                "store, commit", "make the reply", "backend → proxy", "proxy → client",
            ],
            legs.Select(l => l.Name));
        Assert.Equal(
            payment.Milliseconds(whole.From, whole.To)!.Value,
            legs.Sum(l => payment.Milliseconds(l.From, l.To)!.Value), 6);
    }

    [Fact]
    public void Without_a_broker_there_is_one_step_from_the_proxy_to_the_backend() => Assert.Equal(
        ["wait to be sent", "client → proxy", "proxy → backend", "authorise, decide"],
        Leg.Of([Paid(0, Moment.Appended), Paid(1, Moment.Appended), Failed(2)]).Take(4).Select(l => l.Name));

    [Fact]
    public void The_latency_of_a_payment_sent_late_includes_its_delay()
    {
        var payment = Paid(0);
        payment[Moment.Planned] = payment[Moment.Sent] - 250_000;
        var steps = LegSummary.Of([payment]).ToDictionary(s => s.Name, StringComparer.Ordinal);

        Assert.Equal(250, steps["wait to be sent"].P50Ms, 6);
        Assert.Equal(250 + payment.Milliseconds(Moment.Sent, Moment.Returned)!.Value, steps[Leg.TotalName].P50Ms, 6);
        Assert.Equal(250 + payment.Milliseconds(Moment.Sent, Moment.Stored)!.Value, steps["until stored"].P50Ms, 6);
        Assert.Equal("planned", steps[Leg.TotalName].From);
    }

    [Fact]
    public void Without_a_planned_time_latencies_begin_with_the_sending()
    {
        var payment = Paid(0, Moment.Planned);

        Assert.Equal(Moment.Sent, Leg.Whole([payment]).From);
        Assert.Equal("client → proxy", Leg.Of([payment])[0].Name);
        Assert.All(Leg.Milestones([payment]), leg => Assert.Equal(Moment.Sent, leg.From));
    }

    [Fact]
    public void A_trace_with_failures_states_that_latencies_exclude_them()
    {
        Assert.Contains(
            "1 failed, and are left out of the latencies",
            HtmlPage.Of(TracePage.Of(null, [Paid(0), Failed(1)])), StringComparison.Ordinal);
        Assert.DoesNotContain(
            "left out of the latencies", HtmlPage.Of(TracePage.Of(null, [Paid(0)])), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(-900, 0)]
    [InlineData(300, 0.3)]
    [InlineData(5000, 2)]
    public void The_brokers_timestamp_is_limited_to_the_range_between_its_neighbours(long appended, double milliseconds)
    {
        var payment = Paid(0);
        payment[Moment.Appended] = payment[Moment.Received] + appended;
        Assert.Equal(milliseconds, payment.Milliseconds(Moment.Received, Moment.Appended)!.Value, 6);
        Assert.Equal(2 - milliseconds, payment.Milliseconds(Moment.Appended, Moment.Consumed)!.Value, 6);
    }

    [Theory]
    [InlineData(0.5, 5)]
    [InlineData(0.9, 9)]
    [InlineData(0.91, 10)]
    [InlineData(0.999, 10)]
    [InlineData(1, 10)]
    [InlineData(0.01, 1)]
    public void A_percentile_is_the_value_of_the_nearest_rank(double share, double value) =>
        Assert.Equal(value, new LegTimes(Leg.Whole([]), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).Percentile(share));

    [Fact]
    public void An_empty_trace_gives_a_report_without_data()
    {
        Assert.Equal(0, LegTimes.Of(Leg.Whole([]), []).Percentile(0.99));
        Assert.Contains("No payment was sent.", HtmlPage.Of(TracePage.Of(null, [])), StringComparison.Ordinal);
        Assert.Contains("No data.", HtmlPage.Of(TracePage.Of(null, [Failed(0)])), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_report_is_made_of_a_trace_with_and_without_its_results()
    {
        await TraceFile.WriteAsync(Trace, Enumerable.Range(0, 2000).Select(n => Paid(n)));
        Assert.Empty(ResultFiles.Read(Trace).Facts);
        await WriteResultAsync();
        var report = ResultFiles.Read(Trace);
        Assert.Contains(report.Facts, f => f.Value.StartsWith("./billing trace", StringComparison.Ordinal));
        Assert.DoesNotContain("No data.", HtmlPage.Of(report), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_report_is_made_of_results_by_their_kind()
    {
        var path = await WriteResultAsync();
        Assert.Contains(
            "\"kind\": \"trace\"", await File.ReadAllTextAsync(path, TestContext.Current.CancellationToken),
            StringComparison.Ordinal);
        Assert.Contains("client → proxy", HtmlPage.Of(ResultFiles.Read(path)), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("{}", "has no member \"kind\"")]
    [InlineData("[]", "has no member \"kind\"")]
    [InlineData("{\"kind\":5}", "has no member \"kind\"")]
    [InlineData("{\"kind\":\"weather\"}", "the kind \"weather\" is unknown; known kinds are ")]
    [InlineData("{\"kind\":\"trace\"}", "cannot be read as results")]
    [InlineData("{", "cannot be read as results")]
    public void JSON_of_an_unknown_kind_is_refused_with_the_name_of_the_file(string json, string problem)
    {
        var path = Path.Combine(_folder.FullName, "x.json");
        File.WriteAllText(path, json);
        var e = Assert.Throws<FormatException>(() => ResultFiles.Read(path));
        Assert.StartsWith(path + ": ", e.Message, StringComparison.Ordinal);
        Assert.Contains(problem, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Several_files_are_combined_in_one_report()
    {
        var result = await WriteResultAsync();
        await TraceFile.WriteAsync(Trace, [Paid(0)]);
        var report = ResultFiles.ReadAll([result, Trace]);
        Assert.Equal(2, report.Sections.Count(s => s.Title == "Time of a payment, step by step"));
    }

    private async Task<string> WriteResultAsync()
    {
        var path = Path.Combine(_folder.FullName, "result.json");
        var result = TraceResult.Of(
            new RunInfo("./billing trace", DateTimeOffset.UnixEpoch, Complete: true, Example.Machine),
            new TraceOptions
            {
                Subject = new MeasuredSystem(new(), [], "", "./billing trace"),
                Requests = 1,
                Rate = 10,
            },
            "kafka", [Paid(0)], isJoined: null);
        await File.WriteAllBytesAsync(
            path, JsonSerializer.SerializeToUtf8Bytes(result, TraceResult.Format.Json),
            TestContext.Current.CancellationToken);
        return path;
    }

    private static TracedPayment Paid(int number, params Moment[] missing)
    {
        var payment = new TracedPayment(Guid.NewGuid(), "visa/acct-1", number + 1, "Accepted");
        foreach (var moment in Enum.GetValues<Moment>().Except(missing))
        {
            payment[moment] = Start + (number * 5000L) + ((int)moment * 1000);
        }
        return payment;
    }

    private static TracedPayment Failed(int number)
    {
        var payment = new TracedPayment(Guid.NewGuid(), "visa/acct-1", 0, "Unavailable");
        payment[Moment.Planned] = Start + (number * 5000L);
        payment.SetTimes(new StepTimes(
            Sent: DateTimeOffset.UnixEpoch.AddSeconds(number + 1),
            Returned: DateTimeOffset.UnixEpoch.AddSeconds(number + 2)));
        return payment;
    }

    private static string Line(TracedPayment payment) =>
        $"{payment} {string.Join(',', Enum.GetValues<Moment>().Select(m => payment[m]))}";
}
