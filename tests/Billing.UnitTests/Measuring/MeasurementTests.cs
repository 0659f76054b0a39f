using System.Text.Json;
using Billing.LocalStack.Processes;
using Billing.Measuring;
using Billing.Measuring.Experiments;
using Billing.Reporting;
using Billing.UnitTests.Measuring.Experiments;
using Spectre.Console;

namespace Billing.UnitTests.Measuring;

/// <summary>The results that a complete, failed or stopped measurement writes.</summary>
public sealed class MeasurementTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-measurement-");
    private readonly StringWriter _output = new();
    private bool _hasMeasured;

    private string ResultFile => Path.Combine(_folder.FullName, "results", "result.json");

    public void Dispose()
    {
        _folder.Delete(recursive: true);
        _output.Dispose();
    }

    [Fact]
    public async Task A_finished_measurement_is_complete()
    {
        Assert.Equal(0, await RunAsync(_ => Measure(), CancellationToken.None));

        var run = Run();
        Assert.True(run.GetProperty("complete").GetBoolean());
        Assert.False(run.TryGetProperty("reason", out _));
    }

    [Fact]
    public async Task A_failed_measurement_keeps_its_results_and_the_reason_and_throws()
    {
        var thrown = await Assert.ThrowsAsync<StackException>(() => RunAsync(
            async _ =>
            {
                await Measure();
                throw new StackException("payments-2 has ended");
            },
            CancellationToken.None));

        Assert.Equal("payments-2 has ended", thrown.Message);
        Assert.False(Run().GetProperty("complete").GetBoolean());
        Assert.Equal("payments-2 has ended", Run().GetProperty("reason").GetString());
        Assert.Contains("Not complete: payments-2 has ended.", _output.ToString(), StringComparison.Ordinal);
        Assert.Contains(
            "payments-2 has ended",
            await File.ReadAllTextAsync(
                Path.Combine(_folder.FullName, "results", "report.html"), TestContext.Current.CancellationToken),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_unexpected_exception_keeps_the_results_too()
    {
        await Assert.ThrowsAsync<InvalidOperationException>(() => RunAsync(
            async _ =>
            {
                await Measure();
                throw new InvalidOperationException("a bug");
            },
            CancellationToken.None));

        Assert.Equal("a bug", Run().GetProperty("reason").GetString());
    }

    [Fact]
    public async Task A_measurement_that_fails_before_its_first_result_writes_no_file()
    {
        await Assert.ThrowsAsync<StackException>(
            () => RunAsync(_ => throw new StackException("no Kafka"), CancellationToken.None));

        Assert.False(File.Exists(ResultFile));
    }

    [Fact]
    public async Task The_error_of_a_failed_measurement_is_thrown_even_if_its_results_cannot_be_written()
    {
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "results"),
            "a file in place of the folder", TestContext.Current.CancellationToken);

        var thrown = await Assert.ThrowsAsync<StackException>(() => RunAsync(
            async _ =>
            {
                await Measure();
                throw new StackException("payments-2 has ended");
            },
            CancellationToken.None));

        Assert.Equal("payments-2 has ended", thrown.Message);
        Assert.Contains("The results could not be written", _output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_stopped_measurement_keeps_its_results_even_if_the_stop_caused_an_error()
    {
        using var stop = new CancellationTokenSource();

        var exit = await RunAsync(
            async _ =>
            {
                await Measure();
                await stop.CancelAsync();
                throw new StackException("a client was killed");
            },
            stop.Token);

        Assert.Equal(130, exit);
        Assert.Equal("interrupted", Run().GetProperty("reason").GetString());
    }

    [Fact]
    public async Task A_measurement_stopped_before_its_first_result_is_cancelled_and_writes_no_file()
    {
        using var stop = new CancellationTokenSource();
        await stop.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => RunAsync(token => Task.FromCanceled(token), stop.Token));
        Assert.False(File.Exists(ResultFile));
    }

    private Task Measure()
    {
        _hasMeasured = true;
        return Task.CompletedTask;
    }

    private Task<int> RunAsync(Func<CancellationToken, Task> measure, CancellationToken cancellationToken)
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(_output) });
        console.Profile.Width = 200;
        var folder = new ResultFolder(console, Path.Combine(_folder.FullName, "results"));
        return new Measurement("./billing compare ceiling", folder, console, TimeProvider.System).RunAsync(
            ExperimentRunner.FormatOf("compare-scale"), measure,
            run => Example.Result(
                [
                    new(1, 1, 0, 0, 0, 0, 0, 1, 1),
                ]) with
            { Run = run, Sections = _hasMeasured ? Example.Result([]).Sections : [] },
            cancellationToken);
    }

    private JsonElement Run()
    {
        using var json = JsonDocument.Parse(File.ReadAllBytes(ResultFile));
        return json.RootElement.GetProperty("run").Clone();
    }
}
