using Billing.Driver;

namespace Billing.Measuring.Loads;

/// <summary>The load drivers of one system: in each load, a number of processes warm up independently, begin at the
/// same time, and journal every answer, for the audit at the end.</summary>
/// <param name="folder">The folder for their files.</param>
/// <param name="name">A name that distinguishes several fleets in one folder.</param>
internal sealed class Fleet(string folder, string name = "load")
{
    private int _loads;

    /// <summary>The machines that run the drivers, as <c>ssh</c> takes them; none for this machine.</summary>
    public IReadOnlyList<string> Hosts { get; init; } = [];

    /// <summary>The journals of all loads so far.</summary>
    public List<string> Journals { get; } = [];

    /// <summary>Number of payments answered so far, those of warm-ups included.</summary>
    public long PaymentsAnswered { get; private set; }

    /// <summary>Number of balance checks answered so far, those of warm-ups included.</summary>
    public long BalancesAnswered { get; private set; }

    /// <summary>Runs one load.</summary>
    /// <param name="spec">The load of each driver; they use different seeds.</param>
    /// <param name="programs">Programs whose processor time is measured while the drivers send.</param>
    /// <param name="cancellationToken">Ends the load early; the figures measured so far are returned.</param>
    /// <exception cref="OperationCanceledException">Cancelled before the measurement began.</exception>
    /// <exception cref="LocalStack.Processes.StackException">A driver failed.</exception>
    public async Task<LoadFigures> RunAsync(
        LoadSpec spec, int drivers, IReadOnlyCollection<(string Name, int ProcessId)> programs,
        CancellationToken cancellationToken)
    {
        await using var load = await StartAsync(spec, drivers, cancellationToken);
        await load.WaitUntilReadyAsync(cancellationToken);
        return await load.RunAsync(programs, cancellationToken);
    }

    /// <summary>Starts the drivers of a load, which begin to warm up.</summary>
    public async Task<RunningLoad> StartAsync(LoadSpec spec, int drivers, CancellationToken cancellationToken)
    {
        var workers = new List<WorkerProcess>();
        _loads++;
        for (var driver = 1; driver <= drivers; driver++)
        {
            var own = Directory.CreateDirectory(Path.Combine(folder, $"{name}-{_loads}-{driver}")).FullName;
            var journal = Path.Combine(own, "journal.csv");
            Journals.Add(journal);
            var ownSpec = spec with { Seed = spec.Seed + (driver * 7_000_003), Journal = journal };
            workers.Add(Hosts.Count == 0
                ? await WorkerProcess.StartAsync(ownSpec, own)
                : await RemoteHost.StartAsync(Hosts[(driver - 1) % Hosts.Count], ownSpec, cancellationToken));
        }
        return new RunningLoad(workers) { Finished = Count };
    }

    private void Count(IReadOnlyList<LoadResult> results)
    {
        PaymentsAnswered += results.Sum(result => result.PaymentsAnswered);
        BalancesAnswered += results.Sum(result => result.BalancesAnswered);
    }
}
