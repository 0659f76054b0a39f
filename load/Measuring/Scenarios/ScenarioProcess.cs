using System.Diagnostics;
using System.Text.Json;
using Billing.LocalStack.Processes;
using Billing.ScenarioFiles;

namespace Billing.Measuring.Scenarios;

/// <summary>Runs the program of load/Scenarios, which uses NBomber, as a separate process. It shares this process's
/// output, and ends early at the end of its standard input.</summary>
internal static class ScenarioProcess
{
    private const string Program = "Billing.Scenarios";

    // Calls in flight are cancelled at once; NBomber then takes some seconds for its figures and reports.
    private static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(45);

    /// <summary>Checks that the program is built.</summary>
    /// <exception cref="StackException">The program does not exist.</exception>
    public static void RequireBuilt()
    {
        var file = DotnetProgram.FileOf(Program);
        if (!File.Exists(file))
        {
            throw new StackException(
                $"The program of the scenarios is not built: {file} does not exist. Build it with `dotnet build "
                + "load/Scenarios -c Release`, and with the package set of the other programs if you chose one.");
        }
    }

    /// <summary>Runs a plan's scenario and moves the reports into the plan's folder.</summary>
    /// <param name="plan">The load to generate.</param>
    /// <param name="proxies">The addresses of the proxies.</param>
    /// <param name="journal">The file for the journal; null for none.</param>
    /// <param name="cancellationToken">Ends it early; the figures measured so far are returned.</param>
    /// <exception cref="StackException">The program failed, or did not end after the interrupt.</exception>
    public static async Task<ScenarioResult> RunAsync(
        LoadPlan plan, IReadOnlyList<string> proxies, string? journal, CancellationToken cancellationToken)
    {
        var folder = Directory.CreateTempSubdirectory("billing-load-").FullName;
        try
        {
            // Not the user's folder: NBomber empties the folder of its reports, and adds a log.
            var reports = Path.Combine(folder, "reports");
            var (spec, result) = (Path.Combine(folder, "spec.json"), Path.Combine(folder, "result.json"));
            await File.WriteAllBytesAsync(
                spec,
                JsonSerializer.SerializeToUtf8Bytes(
                    Spec(plan, proxies, journal, reports), ScenarioJson.Default.ScenarioSpec),
                CancellationToken.None);
            await RunAsync([spec, result], cancellationToken);
            foreach (var report in Directory.EnumerateFiles(reports, plan.Scenario + ".*"))
            {
                File.Move(report, Path.Combine(plan.Subject.Out, Path.GetFileName(report)), overwrite: true);
            }
            return JsonSerializer.Deserialize(
                await File.ReadAllBytesAsync(result, CancellationToken.None), ScenarioJson.Default.ScenarioResult)!;
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static ScenarioSpec Spec(
        LoadPlan plan, IReadOnlyList<string> proxies, string? journal, string reports) => new()
        {
            Scenario = plan.Scenario,
            Shape = plan.Shape,
            PaymentPercent = plan.PaymentPercent,
            Following = plan.Following,
            Clients = plan.Clients,
            WarmUp = plan.WarmUp,
            Accounts = plan.Accounts,
            Proxies = proxies,
            Journal = journal,
            ReportFolder = reports,
        };

    private static async Task RunAsync(string[] arguments, CancellationToken cancellationToken)
    {
        using var process = ChildProcess.Launch(StartInfo(arguments));
        try
        {
            await using var stop = cancellationToken.Register(process.StandardInput.Close);
            var ended = process.WaitForExitAsync(CancellationToken.None);
            if (await Task.WhenAny(ended, UntilOverdueAsync(cancellationToken)) != ended)
            {
                throw new StackException(
                    $"The scenario did not end within {StopTimeout.TotalSeconds:0} s of the interrupt.");
            }
        }
        finally
        {
            if (!process.HasExited)
            {
                process.Kill();
            }
        }
        if (process.ExitCode != 0)
        {
            throw new StackException($"The scenario failed with exit code {process.ExitCode}.");
        }
    }

    private static async Task UntilOverdueAsync(CancellationToken cancellationToken)
    {
        await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await Task.Delay(StopTimeout, CancellationToken.None);
    }

    private static ProcessStartInfo StartInfo(IEnumerable<string> arguments)
    {
        var start = DotnetProgram.StartInfo(Program, arguments);
        if (Console.IsOutputRedirected)
        {
            // NBomber decides by this variable whether to use colours, even if its output is redirected.
            start.Environment["TERM"] = "dumb";
        }
        return start;
    }
}
