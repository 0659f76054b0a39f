using System.Text.Json;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Misuse.Attacks;
using Billing.Misuse.Connections;
using Billing.Misuse.Watching;

namespace Billing.Misuse;

/// <summary>Runs hostile callers as a process of their own while others pay, and watches the services.</summary>
/// <param name="longAccount">The VISA account whose statement is read.</param>
internal sealed class Assault(LimitedStack stack, MisuseOptions options, string longAccount)
{
    private const string OfAttackers = "127.0.0.2";
    private const string OfOthers = "127.0.0.1";

    private static readonly TimeSpan MemoryInterval = TimeSpan.FromMilliseconds(200);

    // A proxy holds what a caller has left until it is answered or its time is over.
    private static readonly TimeSpan RestBound = TimeSpan.FromSeconds(45);

    private int _number;

    /// <summary>Watches others beside a program that only computes.</summary>
    public async Task<OthersFigures> WatchQuietAsync(OtherCallers others, CancellationToken cancellationToken)
    {
        var (_, figures) = await BesideAsync(
            new AttackOrder { Attack = "", Seconds = options.Quiet.TotalSeconds }, others, cancellationToken);
        return figures;
    }

    /// <summary>Runs one shape.</summary>
    /// <param name="quietP99Ms">What others have in quiet, in milliseconds.</param>
    /// <param name="token">A valid token of the attackers.</param>
    public async Task<(AttackResult Result, AttackFacts Facts)> RunAsync(
        Shape shape, OtherCallers others, double quietP99Ms, string token, CancellationToken cancellationToken)
    {
        var proxy = stack.Proxy(AttackOrder.HasTls(shape.Front));
        var services = stack.Stack.Services.OrderBy(service => service != proxy).ToList();
        var before = await PlacesAsync(proxy, cancellationToken);
        var kills = services.ToDictionary(service => service, stack.KernelKills);
        services.ForEach(service => ResidentMemory.ForgetPeakOf(service.Process.Id));
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var watching = WatchMemoryAsync(services, enough.Token);
        var (result, figures) = await BesideAsync(OrderOf(shape, proxy, token), others, cancellationToken);
        var after = before is null ? null : await RestAsync(proxy, before, cancellationToken);
        await enough.CancelAsync();
        var peaks = await watching;
        return (result, new AttackFacts(
            [.. services.Select(service => new ServiceFacts(
                service.Process.Name, UnitLimits.Of(service.Role).MemoryMax, peaks[service], service.Process.ExitCode,
                stack.KernelKills(service) - kills[service]))],
            before, after, figures, quietP99Ms));
    }

    private AttackOrder OrderOf(Shape shape, ServiceProcess proxy, string token) => new()
    {
        Attack = shape.Attack.Name,
        Front = shape.Front,
        Layout = shape.Layout,
        Seed = options.Seed,
        Seconds = (Shapes.Killers.Contains(shape.Name) ? options.Killer : options.Attack).TotalSeconds,
        Port = new Uri(AttackOrder.IsGrpc(shape.Front) ? proxy.Address : proxy.RestAddress!).Port,
        From = shape.Credential == Credential.ValidAtOthers ? OfOthers : OfAttackers,
        Token = shape.Credential switch
        {
            Credential.None => null,
            // Another signature of the same length.
            Credential.Invalid => token[..^4] + (token.EndsWith("AAAA", StringComparison.Ordinal) ? "BBBB" : "AAAA"),
            _ => token,
        },
        CaFile = stack.Credentials.CaFile,
        LongAccount = longAccount,
    };

    private async Task<(AttackResult Result, OthersFigures Others)> BesideAsync(
        AttackOrder order, OtherCallers others, CancellationToken cancellationToken)
    {
        var name = $"callers-{++_number}";
        var (orderFile, resultFile) = (FileOf(name + ".order.json"), FileOf(name + ".result.json"));
        await File.WriteAllBytesAsync(
            orderFile, JsonSerializer.SerializeToUtf8Bytes(order, AttackJson.Default.AttackOrder), cancellationToken);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var paying = others.PayAsync(enough.Token);
        try
        {
            await ChildProcess.RunAsync(
                new ChildProcessStart(
                    name, DotnetProgram.Launcher, [DotnetProgram.FileOf("Billing.Misuse"), orderFile, resultFile],
                    stack.Stack.Folder.LogFile("callers"))
                { Group = stack.Callers },
                ChildProcess.Patience, cancellationToken);
        }
        finally
        {
            await enough.CancelAsync();
            await paying.ContinueWith(static _ => { }, TaskScheduler.Default);
        }
        return (AttackJson.ReadResult(resultFile), await paying);
    }

    private string FileOf(string name) => Path.Combine(stack.Stack.Folder.FullName, name);

    private async Task<Places?> RestAsync(ServiceProcess proxy, Places before, CancellationToken cancellationToken) =>
        await Poll.LastAsync(
            () => PlacesAsync(proxy, cancellationToken),
            places => proxy.Process.HasExited || places?.IsAtRest(before, RestPayments.ConnectionsMax) == true,
            RestBound, MemoryInterval, cancellationToken);

    private async Task<Places?> PlacesAsync(ServiceProcess proxy, CancellationToken cancellationToken)
    {
        try
        {
            return await stack.PlacesAsync(proxy, cancellationToken);
        }
        catch (HttpRequestException)
        {
            return null;
        }
    }

    // Read all the time: a process that has ended has no memory.
    private static async Task<Dictionary<ServiceProcess, long>> WatchMemoryAsync(
        List<ServiceProcess> services, CancellationToken enough)
    {
        var peaks = services.ToDictionary(service => service, _ => 0L);
        try
        {
            await Poll.LastAsync(
                () =>
                {
                    foreach (var service in services)
                    {
                        peaks[service] = Math.Max(
                            peaks[service], ResidentMemory.PeakOf(service.Process.Id) ?? 0);
                    }
                    return Task.FromResult(false);
                },
                isOver => isOver, TimeSpan.MaxValue, MemoryInterval, enough);
        }
        catch (OperationCanceledException)
        {
            // The attack is over.
        }
        return peaks;
    }
}
