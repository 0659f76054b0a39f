using System.Globalization;
using Billing.Chaos;
using Billing.Chaos.Faults;
using Billing.Chaos.Network;
using Billing.LocalStack;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Soaks;

/// <summary>Runs a soak test: starts a stack, injects faults while it is under load, prints the results and the audit, and
/// removes the stack.</summary>
internal sealed class ChaosRun(ChaosOptions asked, ChaosOutput output, IAnsiConsole console, TimeProvider time)
{
    /// <summary>Runs the soak test.</summary>
    /// <returns>The process's exit code: 0 only if the event store and the answers are correct.</returns>
    /// <exception cref="StackException">There is no Kafka, or the options name existing brokers or an existing PostgreSQL, which
    /// it must not disturb.</exception>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        if (asked.Stack.Kafka != "auto" || asked.Stack.Postgres != "auto")
        {
            throw new StackException("chaos injects faults into brokers and a PostgreSQL of its own: leave --kafka and --postgres out.");
        }
        KafkaPrograms.Require("chaos injects faults into brokers of its own");
        // The relays lead to a listener without TLS.
        if (asked.Stack.Secured)
        {
            return await RunAsync(asked, cancellationToken);
        }
        await using var network = new StackNetwork(asked.Stack, time);
        return await RunAsync(asked with { Network = network, Stack = network.Behind(asked.Stack) }, cancellationToken);
    }

    private async Task<int> RunAsync(ChaosOptions options, CancellationToken cancellationToken)
    {
        var schedule = FaultSchedule.Create(options.Seed, options.Duration, options.Targets);
        if (options.Stack.MayLosePower && LossyDisk.Missing is { } missing)
        {
            throw new StackException($"--power-loss: {missing}.");
        }
        if (!options.Stack.MayBeSlow)
        {
            console.WriteLine($"Without slow disks and wrong clocks: {PreloadedLibrary.Missing}.");
        }
        Print(options, schedule);
        await using var stack = await Starting.StackAsync(options.Stack, console, cancellationToken);
        console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{options.Stack.Brokers} brokers, {options.Stack.Proxies} proxies, {options.Stack.PaymentBackends} payment backends, {options.Stack.BalanceBackends} balance backends, jitter {(options.Stack.Jitter ? "on" : "off")}, {options.Workers} workers, at most {options.Rate} payments/s"));
        var journal = Path.Combine(stack.Folder.FullName, "chaos.csv");
        try
        {
            var startedAt = time.GetUtcNow();
            var result = await new Soak(stack, options, time, console.WriteLine).RunAsync(schedule, journal, cancellationToken);
            var report = ChaosResult.Of(options, new RunInfo(output.CommandLine, startedAt, Complete: true, Machine.This()), result);
            ConsoleReport.Print(console, ChaosResult.Format.Page(report));
            AuditTable.Print(console, result.Audit);
            if (output.Report is { } path)
            {
                await ResultFile.WriteAsync(console, ChaosResult.Format, report, path);
            }
            return ((IResults)report).IsGood ? 0 : 1;
        }
        finally
        {
            Keep(stack);
        }
    }

    private void Print(ChaosOptions options, IReadOnlyList<Fault> schedule)
    {
        console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"Seed {options.Seed}, {options.Duration.TotalMinutes:0.##} min, {schedule.Count} faults:"));
        foreach (var fault in schedule)
        {
            console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{fault.At.TotalSeconds,7:0.0} s  {fault.What}"));
        }
    }

    private void Keep(BillingStack stack)
    {
        if (output.Logs is not { } folder)
        {
            return;
        }
        Directory.CreateDirectory(folder);
        foreach (var file in Directory.EnumerateFiles(stack.Folder.Logs).Concat(Directory.EnumerateFiles(stack.Folder.FullName, "chaos*.csv")))
        {
            File.Copy(file, Path.Combine(folder, Path.GetFileName(file)), overwrite: true);
        }
        console.WriteLine($"Logs: {folder}");
    }
}
