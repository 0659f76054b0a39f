using System.Collections.Concurrent;
using System.Globalization;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Rehearsal.Listening;
using Billing.Rehearsal.Machines;
using Billing.Rehearsal.Network;

namespace Billing.Rehearsal.Steps;

/// <summary>The platform's running machines.</summary>
internal sealed class Platform : IAsyncDisposable
{
    // More at the same time would only wait for the processors of this machine.
    private const int BootsAtATime = 4;

    private const int JournalLines = 20_000;

    private readonly RehearsalOptions _options;
    private readonly ConcurrentDictionary<string, RunningMachine> _machines = new(StringComparer.Ordinal);
    private int _plans;

    private Platform(RehearsalOptions options, Topology topology, Site site, Eavesdropper eavesdropper)
    {
        _options = options;
        Topology = topology;
        Site = site;
        Eavesdropper = eavesdropper;
    }

    /// <summary>The machines and rules of the platform.</summary>
    public Topology Topology { get; private set; }
    public Site Site { get; }

    /// <summary>It listens from before the first machine boots.</summary>
    public Eavesdropper Eavesdropper { get; }

    public RunningMachine this[string name] => _machines[name];

    /// <summary>All machines that were booted, in the order of the topology.</summary>
    public IEnumerable<RunningMachine> Machines =>
        from machine in Topology.Machines where _machines.ContainsKey(machine.Name) select _machines[machine.Name];

    public IReadOnlyList<RunningMachine> Tier(
        string tier) => [.. Topology.Tier(tier).Select(machine => _machines[machine.Name])];

    /// <summary>Boots all machines, with nothing installed yet.</summary>
    public static async Task<Platform> BootAsync(
        RehearsalOptions options, Release release, CancellationToken cancellationToken)
    {
        var group = $"{GroupPrefix}{Environment.ProcessId}";
        var topology = await PlanAsync(options, Path.Combine(options.Folder, "plan-0"), release, [], cancellationToken);
        var network = await MachineNetwork.BuildAsync(topology, options.ZoneDelay, cancellationToken);
        var site = new Site(
            options.Folder, Path.Combine(options.Image, "root"),
            Path.Combine(options.Image, "packages"), network, group);
        var platform = new Platform(
            options, topology, site, Eavesdropper.Open(MachineNetwork.NamespacePath(MachineNetwork.Router)));
        try
        {
            await platform.MakeSecretsAsync(cancellationToken);
            await platform.OfferAsync(release, cancellationToken);
            await Parallel.ForEachAsync(
                topology.Machines,
                new ParallelOptions { MaxDegreeOfParallelism = BootsAtATime, CancellationToken = cancellationToken },
                async (machine, token) =>
                    platform._machines[machine.Name] = await RunningMachine.BootAsync(machine, site, token));
            return platform;
        }
        catch
        {
            await platform.DisposeAsync();
            throw;
        }
    }

    /// <summary>The prefix of the names of the rehearsals' control groups.</summary>
    public const string GroupPrefix = "billing-rehearsal-";

    /// <summary>What an account may owe, in US dollars, before a limit is set.</summary>
    public const string OpeningLimit = "10000";

    /// <summary>Makes a release available to the machines.</summary>
    public Task OfferAsync(Release release, CancellationToken cancellationToken) =>
        new Tool("cp").RunAsync(
            ["-r", "--reflink=auto", release.Folder, Path.Combine(Site.Releases, release.Version)], cancellationToken);

    /// <summary>Runs the script that makes secrets, for the machines of the present topology; without arguments it
    /// makes those that are missing. From then on the eavesdropper knows them.</summary>
    /// <returns>What it prints.</returns>
    public async Task<string> MakeSecretsAsync(CancellationToken cancellationToken, params string[] arguments)
    {
        var printed = await new Tool("bash").RunAsync(
            [
                Path.Combine(_options.Repository, "deploy/terraform/secrets.sh"), "--folder", Site.Secrets,
                "--network", Topology.Machines[0].Environment["BILLING_NETWORK"],
                "--proxies", Topology.Tier("proxy").Count().ToString(CultureInfo.InvariantCulture), .. arguments,
            ],
            cancellationToken);
        Eavesdropper.Learn(Site.Secrets);
        return printed;
    }

    /// <summary>Plans the topology with other variables or for another release;
    /// this does not change the machines.</summary>
    public Task<Topology> PlanAsync(
        Release release, Dictionary<string, object> variables, CancellationToken cancellationToken) =>
        PlanAsync(_options, Site.PathOf($"plan-{++_plans}"), release, variables, cancellationToken);

    /// <summary>Runs the user data of machines, as a cloud does at the first start: of all at once, since they wait for
    /// each other; the failure of one cancels the others.</summary>
    /// <exception cref="StackException">It failed; the message contains the last lines of the
    /// machine's journal.</exception>
    public Task InstallAsync(IReadOnlyCollection<Machine> machines, CancellationToken cancellationToken) =>
        Parallel.ForEachAsync(
            machines, new ParallelOptions
            {
                MaxDegreeOfParallelism = Math.Max(1, machines.Count),
                CancellationToken = cancellationToken,
            },
            async (machine, token) => await InstallAsync(machine.Name, token));

    private async Task InstallAsync(string name, CancellationToken cancellationToken)
    {
        var machine = _machines[name];
        var log = Path.Combine(Site.Logs, name + ".install.log");
        var (exitCode, output, errors) = await machine.Shell()
            .TryAsync(["bash -s"], cancellationToken, Topology.UserData[name]);
        var journal = await machine.JournalAsync(200, cancellationToken);
        await File.AppendAllTextAsync(log, output + errors + journal, cancellationToken);
        if (exitCode != 0)
        {
            throw new StackException(
                $"{name} could not be installed:\n{string.Join('\n', journal.TrimEnd().Split('\n').TakeLast(25))}");
        }
        if (_options.Micro)
        {
            machine.SpendCredits();
        }
    }

    /// <summary>Writes the journals of the machines that run to the folder of logs.</summary>
    public async Task KeepJournalsAsync()
    {
        foreach (var machine in Machines.Where(machine => machine.IsRunning))
        {
            await File.WriteAllTextAsync(
                Path.Combine(Site.Logs, machine.Machine.Name + ".journal.log"),
                await machine.JournalAsync(JournalLines, CancellationToken.None));
        }
    }

    /// <summary>Adds the machines that a topology has and this platform lacks, and installs them.</summary>
    public async Task GrowAsync(Topology topology, CancellationToken cancellationToken)
    {
        var added = topology.Machines.Where(machine => !_machines.ContainsKey(machine.Name)).ToList();
        Topology = topology;
        foreach (var machine in added)
        {
            await Site.Network.AddAsync(machine, cancellationToken);
            _machines[machine.Name] = await RunningMachine.BootAsync(machine, Site, cancellationToken);
        }
        await InstallAsync(added, cancellationToken);
    }

    /// <summary>Ends a machine at once, without a word to those that are connected to it,
    /// and deletes its disk.</summary>
    public async Task BurnAsync(RunningMachine burnt, CancellationToken cancellationToken)
    {
        await Site.Network.CutOffAsync([burnt.Machine], cancellationToken);
        await burnt.DisposeAsync();
        await ControlGroup.RemoveAsync(Path.Combine(Site.GroupName, burnt.Machine.Name));
        await Site.DeleteAsync(burnt.Machine.Name, cancellationToken);
    }

    /// <summary>Boots and installs a new machine in the place of one that burnt.</summary>
    public async Task ReplaceAsync(Machine machine, CancellationToken cancellationToken)
    {
        await Site.Network.ReconnectAsync([machine], cancellationToken);
        _machines[machine.Name] = await RunningMachine.BootAsync(machine, Site, cancellationToken);
        await InstallAsync(machine.Name, cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var machine in _machines.Values)
        {
            await machine.DisposeAsync();
        }
        Eavesdropper.Dispose();
        Site.Network.Dispose();
        await ControlGroup.RemoveAsync(Site.GroupName);
    }

    private static Task<Topology> PlanAsync(
        RehearsalOptions options, string folder, Release release,
        Dictionary<string, object> variables, CancellationToken cancellationToken) =>
        Topology.PlanAsync(
            Path.Combine(options.Repository, "deploy/terraform/modules/topology"), folder,
            new Dictionary<string, object>(variables)
            {
                ["release_version"] = release.Version,
                ["bootstrap_sha256"] = release.BootstrapHash,
                ["release"] = "file:///srv/billing/releases/" + release.Version,
                ["opening_limits"] = new Dictionary<string, string> { ["USD"] = OpeningLimit },
            },
            cancellationToken);
}
