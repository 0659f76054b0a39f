using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Rehearsal.Machines;
using Billing.Rehearsal.Steps;
using Spectre.Console;

namespace Billing.Rehearsal;

/// <summary>Rehearses a deployment on one machine: first start, experiment, failures, upgrade, growth, restore,
/// machines that burn, audit.</summary>
internal sealed class Rehearsal(RehearsalOptions options, IAnsiConsole console)
{
    private static readonly TimeSpan RestoredFor = TimeSpan.FromSeconds(12);

    // The tiers whose services have metrics of their own, beside those of their machines.
    private static readonly string[] Scraped = ["proxy", "payment-backend", "balance-backend"];

    private readonly RehearsalReport _report = new()
    {
        Machine = Measuring.Machine.This(),
        ZoneDelayMs = options.ZoneDelay.TotalMilliseconds,
        Requests = options.Requests,
    };

    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        await RemoveOldControlGroupsAsync();
        var (release, next) = (Release.Read(options.Release), Release.Read(options.NextRelease));
        (_report.Release, _report.NextRelease) = (release.Version, next.Version);
        Platform? platform = null;
        try
        {
            var isWhole = await TryAsync(async () =>
            {
                await StepAsync(
                    "boot the machines",
                    async () => platform = await Platform.BootAsync(options, release, cancellationToken));
                await DeployAsync(platform!, cancellationToken);
                var moment = "";
                if (!options.IsShort)
                {
                    await MeasureAsync(platform!, cancellationToken);
                    moment = await UpgradeAsync(platform!, next, cancellationToken);
                }
                await GrowAsync(platform!, next, cancellationToken);
                if (!options.IsShort)
                {
                    await RestoreAsync(platform!, moment, cancellationToken);
                }
                await AddDatabasesAsync(platform!, next, cancellationToken);
                await BurnAsync(platform!, cancellationToken);
            });
            if (platform is not null)
            {
                await TryAsync(() => ConcludeAsync(platform, isWhole, cancellationToken));
            }
        }
        finally
        {
            if (platform is not null)
            {
                _report.Listening = platform.Eavesdropper.Conclude().Judge(platform.Topology);
                _report.Amiss.AddRange(_report.Listening.Amiss);
                if (options.Logs is not null)
                {
                    await platform.KeepJournalsAsync();
                }
                await platform.DisposeAsync();
            }
            await KeepAsync();
        }
        RehearsalTable.Print(console, _report);
        return _report.Amiss.Count == 0 ? 0 : 1;
    }

    private async Task DeployAsync(Platform platform, CancellationToken cancellationToken)
    {
        await StepAsync(
            $"run the user data of {platform.Topology.Machines.Count} machines",
            () => platform.InstallAsync(platform.Topology.Machines, cancellationToken));
        await StepAsync("try every connection between machines", async () =>
        {
            _report.Access = await Installation.TryAccessAsync(platform, cancellationToken);
            _report.Amiss.AddRange(_report.Access.Amiss);
            var (up, down) = await Installation.TargetsAsync(platform, cancellationToken);
            var services = Scraped.Sum(tier => platform.Tier(tier).Count);
            Expect(
                down == 0 && up == platform.Topology.Machines.Count + services,
                $"Prometheus scrapes {up} machines and services, and fails to scrape {down}");
        });
        await StepAsync("look for the first backup, and for alerts about the machines", async () =>
        {
            var backups = await RestoreDrill.BackupsAsync(platform, cancellationToken);
            Expect(backups == 1, $"the installation made {backups} backups instead of one");
            Expect(
                await Installation.AlertsAsync(platform, cancellationToken),
                "Prometheus has not evaluated its alerts, or knows of no backup");
        });
    }

    private async Task MeasureAsync(Platform platform, CancellationToken cancellationToken)
    {
        var experiment = new Experiment(options, platform);
        var cut = platform.Topology["payment-backend-2"];
        await StepAsync(
            $"{platform.Tier("client").Count} x {options.Requests:N0} payments at once",
            async () => Add(await experiment.BurstAsync("burst", 1, [], cancellationToken)));
        await StepAsync(
            "read the services' memory use",
            async () => _report.Memory.AddRange(await MemoryUse.OfAllAsync(platform, cancellationToken)));
        await StepAsync(
            $"the same burst with {cut.Name} cut off for {Experiment.CutOff.TotalSeconds:0} s",
            async () => Add(await experiment.BurstAsync("cut", 101, [cut], cancellationToken)));
        var zone = platform.Topology.Machines.Where(machine => machine.Zone == "b").ToList();
        var clients = platform.Tier("client").Where(client => client.Machine.Zone != "b").ToList();
        await StepAsync(
            $"zone b, {zone.Count} machines, lost for {Experiment.CutOff.TotalSeconds:0} s while payments continue",
            async () =>
                Add(await experiment.PayingAsync(
                    "zone", 201, clients, () => experiment.CutOffAsync(zone, cancellationToken), cancellationToken)));
        await StepAsync(
            "kill -9 of a proxy, two backends, a broker and the database while payments continue", async () =>
                Add(await experiment.PayingAsync(
                    "killed", 251, platform.Tier("client"),
                    () => Kills.RunAsync(platform, cancellationToken), cancellationToken)));
    }

    // Returns the point in time before.
    private async Task<string> UpgradeAsync(Platform platform, Release next, CancellationToken cancellationToken)
    {
        var experiment = new Experiment(options, platform);
        var moment = "";
        await StepAsync(
            "record the point in time to restore to",
            async () => moment = await RestoreDrill.MomentAsync(platform, cancellationToken));
        await StepAsync(
            $"upgrade to {next.Version}, machine by machine, while payments continue",
            async () => Add(await experiment.PayingAsync(
                "upgrade", 301, platform.Tier("client"),
                () =>
                    Upgrade.RunAsync(platform, next, machine => console.WriteLine("    " + machine), cancellationToken),
                cancellationToken)));
        return moment;
    }

    private async Task GrowAsync(Platform platform, Release next, CancellationToken cancellationToken)
    {
        var experiment = new Experiment(options, platform);
        await StepAsync(
            "add a proxy, a payment backend, a broker and partitions while payments continue",
            async () => Add(await experiment.PayingAsync(
                "growth", 401, platform.Tier("client"),
                async () =>
                {
                    var (members, working) = await Growth.RunAsync(platform, next, cancellationToken);
                    Expect(
                        members == 4 && working == 4,
                        $"of 4 payment backends, {members} are in the consumer group and {working} have partitions");
                },
                cancellationToken)));
    }

    private async Task RestoreAsync(Platform platform, string moment, CancellationToken cancellationToken)
    {
        var experiment = new Experiment(options, platform);
        await StepAsync($"restore the database to {moment}, beside the running one", async () =>
        {
            var (isClean, printed) = await RestoreDrill.RunAsync(
                platform, moment, "/srv/billing/shared/{burst,cut,zone,killed}-*.csv", cancellationToken);
            console.WriteLine(printed);
            Expect(isClean, "the audit of the restored database is not clean");
        });
        await StepAsync("back up the database", async () =>
        {
            var before = await RestoreDrill.BackupsAsync(platform, cancellationToken);
            await RestoreDrill.BackUpAsync(platform, cancellationToken);
            var backups = await RestoreDrill.BackupsAsync(platform, cancellationToken);
            Expect(backups > before, $"there are still {backups} backups");
        });
        await StepAsync("restore the database to the current time, and replace the running one", async () =>
            await RestoreDrill.TakeOverAsync(
                platform, await RestoreDrill.MomentAsync(platform, cancellationToken), cancellationToken));
        await StepAsync("payments on the restored database", async () => Add(await experiment.PayingAsync(
            "restored", 501, platform.Tier("client"),
            () => Task.Delay(RestoredFor, cancellationToken), cancellationToken)));
        await StepAsync("restore what followed the replacement, beside the running one", async () =>
        {
            var (isClean, printed) = await RestoreDrill.RunAsync(
                platform, await RestoreDrill.MomentAsync(platform, cancellationToken),
                "/srv/billing/shared/*.csv", cancellationToken);
            console.WriteLine(printed);
            Expect(isClean, "the audit of what followed the replacement of the database is not clean");
        });
    }

    private async Task AddDatabasesAsync(Platform platform, Release next, CancellationToken cancellationToken)
    {
        var experiment = new Experiment(options, platform);
        await StepAsync(
            "add two databases and move two thirds of the accounts to them while payments continue",
            async () => Add(await experiment.PayingAsync(
                "databases", 541, platform.Tier("client"),
                () => Sharding.RunAsync(platform, next, what => console.WriteLine("    " + what), cancellationToken),
                cancellationToken)));
    }

    private async Task BurnAsync(Platform platform, CancellationToken cancellationToken)
    {
        var experiment = new Experiment(options, platform);
        await StepAsync("replace every secret while payments continue", async () => Add(await experiment.PayingAsync(
            "rotation", 551, platform.Tier("client"),
            () => Rotation.RunAsync(platform, what => console.WriteLine("    " + what), cancellationToken),
            cancellationToken)));
        await BurnAsync("the primary of the first database", "primary", 601, DatabaseMachines.PrimaryAsync);
        await BurnAsync("its standby", "standby", 701, DatabaseMachines.StandbyAsync);
        await StepAsync(
            "lose all machines of the first database with their disks, and restore it on new ones",
            () => RestoreDrill.LoseAllAsync(platform, cancellationToken));
        await StepAsync("payments on what was restored", async () => Add(await experiment.PayingAsync(
            "lost", 801, platform.Tier("client"),
            () => Task.Delay(RestoredFor, cancellationToken), cancellationToken)));

        Task BurnAsync(
            string what, string name, int seed,
            Func<Platform, CancellationToken, Task<RunningMachine>> find) => StepAsync(
            $"burn {what} with its disk while payments continue",
            async () => Add(await experiment.PayingAsync(
                name, seed, platform.Tier("client"),
                async () => await DatabaseMachines.BurnAsync(
                    platform, await find(platform, cancellationToken), cancellationToken),
                cancellationToken)));
    }

    // What was paid before a step failed is audited, and the figures so far are printed, nevertheless.
    private async Task<bool> TryAsync(Func<Task> steps)
    {
        try
        {
            await steps();
            return true;
        }
        catch (StackException e)
        {
            _report.Amiss.Add(e.Message);
            return false;
        }
    }

    private async Task ConcludeAsync(Platform platform, bool isWhole, CancellationToken cancellationToken)
    {
        await StepAsync("audit", async () =>
        {
            var (isClean, printed) = await StoreAudit.AuditAsync(platform, cancellationToken);
            console.WriteLine(printed);
            _report.Audit = printed.Split('\n')[0];
            Expect(isClean, "the audit is not clean");
            var answered = _report.Runs.Sum(run => run.Answered);
            Expect(
                !isWhole || printed.Contains($"acknowledged {answered},", StringComparison.Ordinal),
                $"the clients counted {answered} answers, but the journals contain a different number");
        });
        await StepAsync(
            "read what payments take on the disks",
            async () => _report.Disks.AddRange(await DiskUse.OfAllAsync(platform, cancellationToken)));
        foreach (var use in _report.Memory)
        {
            Expect(
                use.ResidentPeakBytes <= MemoryUse.BoundBytes,
                $"{use.Machine}: {use.Service} used {use.ResidentPeakBytes / 1e6:0} MB, above the limit of "
                    + $"{MemoryUse.BoundBytes / 1e6:0} MB");
        }
        foreach (var machine in platform.Machines.Where(machine => machine.MemoryKills > 0))
        {
            _report.Amiss.Add(
                $"{machine.Machine.Name}: the kernel killed {machine.MemoryKills} processes because the machine was "
                + "out of memory");
        }
    }

    private void Add(LoadRun run)
    {
        _report.Runs.Add(run);
        Expect(
            run.Payments.Failed == 0,
            $"{run.Name}: {run.Payments.Failed} payments were not answered: "
                + $"{string.Join("; ", run.Payments.Errors.Select(error => $"{error.Value} x {error.Key}"))}");
    }

    private void Expect(bool isTrue, string otherwise)
    {
        if (!isTrue)
        {
            _report.Amiss.Add(otherwise);
        }
    }

    private async Task StepAsync(string what, Func<Task> step)
    {
        console.WriteLine(what + " ...");
        var start = TimeProvider.System.GetTimestamp();
        await step();
        var seconds = TimeProvider.System.GetElapsedTime(start).TotalSeconds;
        _report.Steps.Add(new StepTime(what, seconds));
        console.WriteLine($"    {seconds:0.0} s");
    }

    private async Task KeepAsync()
    {
        if (options.Logs is { } kept)
        {
            Directory.CreateDirectory(kept);
            foreach (var folder in (string[])["logs", "shared"])
            {
                await new Tool("cp").RunAsync(
                    ["-r", "--", Path.Combine(options.Folder, folder), kept], CancellationToken.None);
            }
        }
        if (options.Report is { } report)
        {
            await _report.WriteAsync(report);
        }
    }

    /// <summary>Removes the control groups of rehearsals that were killed.</summary>
    private static async Task RemoveOldControlGroupsAsync()
    {
        foreach (var left in ControlGroup.Left(Platform.GroupPrefix))
        {
            if (!Directory.Exists("/proc/" + left[Platform.GroupPrefix.Length..]))
            {
                await ControlGroup.RemoveAsync(left);
            }
        }
    }
}
