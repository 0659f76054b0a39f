using Billing.Auditing;
using Billing.Driver;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Measuring.Experiments.Echo;
using Billing.Measuring.Loads;
using Billing.Measuring.Processes;
using Spectre.Console;

namespace Billing.Measuring.Experiments;

/// <summary>A system that is measured.</summary>
internal abstract class Side(string name) : IAsyncDisposable
{
    public string Name => name;

    /// <summary>Loads it.</summary>
    /// <param name="load">The load; the side adds its addresses.</param>
    public abstract Task<LoadFigures> LoadAsync(LoadSpec load, int drivers, CancellationToken cancellationToken);

    /// <summary>Audits what it has stored; null if it stores nothing.</summary>
    public virtual Task<AuditCounts?> AuditAsync(IAnsiConsole console, CancellationToken cancellationToken) =>
        Task.FromResult<AuditCounts?>(null);

    public abstract ValueTask DisposeAsync();
}

/// <summary>A stack of the platform.</summary>
internal sealed class StackSide(string name, BillingStack stack) : Side(name)
{
    public BillingStack Stack => stack;

    /// <summary>The drivers that load it.</summary>
    public Fleet Fleet { get; } = new(stack.Folder.FullName);

    public static SidePlan Plan(string name, StackOptions options, IAnsiConsole console) => new(
        name,
        async cancellationToken => new StackSide(name, await Starting.StackAsync(options, console, cancellationToken)));

    public override Task<LoadFigures> LoadAsync(LoadSpec load, int drivers, CancellationToken cancellationToken) =>
        Fleet.RunAsync(Complete(load), drivers, Programs.Of(stack), cancellationToken);

    /// <summary>Adds the stack's addresses to a load.</summary>
    public LoadSpec Complete(LoadSpec load) => load with
    {
        Addresses = load.Protocol == LoadProtocol.Rest ? stack.RestAddresses : stack.ProxyAddresses,
    };

    public override async Task<AuditCounts?> AuditAsync(IAnsiConsole console, CancellationToken cancellationToken) =>
        await StoreAudit.AuditAsync(stack, [Fleet], console, cancellationToken);

    public override ValueTask DisposeAsync() => stack.DisposeAsync();
}

/// <summary>Plain gRPC servers that answer payments at once, configured like the proxies:
/// what calls cost without the platform.</summary>
internal sealed class EchoSide : Side
{
    private readonly StackFolder _folder = StackFolder.Create();
    private readonly FreePorts _ports = new();
    private readonly List<EchoProcess> _servers = [];
    private readonly Fleet _fleet;

    private EchoSide(string name)
        : base(name) => _fleet = new Fleet(_folder.FullName);

    /// <summary>Plans a number of servers.</summary>
    public static SidePlan Plan(string name, int servers) => new(name, async cancellationToken =>
    {
        var side = new EchoSide(name);
        try
        {
            for (var n = 0; n < servers; n++)
            {
                side._servers.Add(await EchoProcess.StartAsync(
                    Protocols.Grpc, side._ports.Take(), side._folder.Logs, [], cancellationToken));
            }
            return side;
        }
        catch
        {
            await side.DisposeAsync();
            throw;
        }
    });

    public override Task<LoadFigures> LoadAsync(LoadSpec load, int drivers, CancellationToken cancellationToken) =>
        _fleet.RunAsync(
            load with { Addresses = [.. _servers.Select(s => s.Address)] }, drivers,
            [.. _servers.Select(s => ("echo", s.Id))], cancellationToken);

    public override async ValueTask DisposeAsync()
    {
        foreach (var server in _servers)
        {
            await server.DisposeAsync();
        }
        _ports.Dispose();
        await _folder.DisposeAsync();
    }
}

/// <summary>Proxies that run already; what they have stored cannot be audited.</summary>
internal sealed class TargetSide : Side
{
    private readonly IReadOnlyList<string> _targets;
    private readonly StackFolder _folder = StackFolder.Create();
    private readonly Fleet _fleet;

    public TargetSide(IReadOnlyList<string> targets)
        : base("targets") => (_targets, _fleet) = (targets, new Fleet(_folder.FullName));

    public override Task<LoadFigures> LoadAsync(LoadSpec load, int drivers, CancellationToken cancellationToken) =>
        _fleet.RunAsync(load with { Addresses = _targets }, drivers, [], cancellationToken);

    public override ValueTask DisposeAsync() => _folder.DisposeAsync();
}
