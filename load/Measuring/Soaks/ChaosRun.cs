using System.Globalization;
using Billing.Chaos;
using Billing.Chaos.Faults;
using Billing.Chaos.Network;
using Billing.LocalStack;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.Operator.Audits;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Soaks;

/// <summary>Runs a soak test: starts a stack, injects faults while it is under load, prints the results and the audit,
/// and removes the stack.</summary>
/// <param name="from">The folder of a release that the services change over to and back; null for none.</param>
/// <param name="output">Where the results go.</param>
/// <param name="console">Gets what happens.</param>
/// <param name="time">The clock.</param>
internal sealed class ChaosRun(
    ChaosOptions asked, string? from, ChaosOutput output, IAnsiConsole console, TimeProvider time)
{
    /// <summary>Runs the soak test.</summary>
    /// <returns>The process's exit code: 0 only if the event store and the answers are correct.</returns>
    /// <exception cref="StackException">There is no Kafka, or the options name existing brokers or an existing
    /// PostgreSQL, which it must not disturb; or there is no release in the folder.</exception>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        if (asked.Stack.Kafka != "auto" || asked.Stack.Postgres != "auto")
        {
            throw new StackException(
                "chaos injects faults into brokers and a PostgreSQL of its own: leave --kafka and --postgres out.");
        }
        var other = ReadRelease();
        KafkaPrograms.Require("chaos injects faults into brokers of its own");
        await using var network = new StackNetwork(asked.Stack, time);
        var behind = asked with { Network = network, Stack = network.Behind(asked.Stack) };
        return await RunAsync(behind, other, cancellationToken);
    }

    private async Task<int> RunAsync(ChaosOptions options, Release? other, CancellationToken cancellationToken)
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
            $"{options.Stack.Brokers} brokers, {options.Stack.Proxies} proxies, {options.Stack.PaymentBackends} "
                + $"payment backends, {options.Stack.BalanceBackends} balance backends, jitter "
                + $"{(options.Stack.Jitter ? "on" : "off")}, {options.Workers} workers, at most "
                + $"{options.Rate} payments/s"));
        options = options with { OtherPrograms = await UnpackAsync(other, stack, cancellationToken) };
        var journal = Path.Combine(stack.Folder.FullName, "chaos.csv");
        try
        {
            var startedAt = time.GetUtcNow();
            var result = await new Soak(stack, options, time, console.WriteLine).RunAsync(
                schedule, journal, cancellationToken);
            var report = ChaosResult.Of(
                options, new RunInfo(output.CommandLine, startedAt, Complete: true, Machine.This()), result);
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

    private Release? ReadRelease()
    {
        if (from is null)
        {
            return null;
        }
        try
        {
            var release = Release.Read(from);
            release.RequireServices();
            return release;
        }
        catch (StackException e)
        {
            throw new StackException($"--from: {e.Message}", e);
        }
    }

    private async Task<string?> UnpackAsync(Release? other, BillingStack stack, CancellationToken cancellationToken)
    {
        if (other is null)
        {
            return null;
        }
        console.WriteLine($"A restart of all services changes over to release {other.Version}, and the next one back");
        var programs = stack.Folder.CreateSubfolder("release-" + other.Version);
        await other.UnpackServicesAsync(programs, cancellationToken);
        return programs;
    }

    private void Print(ChaosOptions options, IReadOnlyList<Fault> schedule)
    {
        console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"Seed {options.Seed}, {options.Duration.TotalMinutes:0.##} min, {schedule.Count} faults:"));
        foreach (var fault in schedule)
        {
            console.WriteLine(
                string.Create(CultureInfo.InvariantCulture, $"{fault.At.TotalSeconds,7:0.0} s  {fault.What}"));
        }
    }

    private void Keep(BillingStack stack)
    {
        if (output.Logs is not { } folder)
        {
            return;
        }
        Directory.CreateDirectory(folder);
        foreach (var file in Directory.EnumerateFiles(stack.Folder.Logs)
            .Concat(Directory.EnumerateFiles(stack.Folder.FullName, "chaos*.csv")))
        {
            File.Copy(file, Path.Combine(folder, Path.GetFileName(file)), overwrite: true);
        }
        console.WriteLine($"Logs: {folder}");
    }
}
