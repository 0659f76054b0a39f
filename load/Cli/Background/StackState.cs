using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.Cli.Monitoring;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Operator.Arguments;

namespace Billing.Cli.Background;

/// <summary>The stack that <c>up</c> started, as stored in the state file for <c>status</c> and <c>down</c>.</summary>
/// <param name="Databases">The connection string of each database of the event store, by its name.</param>
/// <param name="OpeningLimits">What an account may owe before a limit is set, by its currency.</param>
/// <param name="Processes">The processes, in the order in which they must be stopped.</param>
internal sealed record StackState(
    string Folder, string Transport, string? Protocol, string? BootstrapServers,
    IReadOnlyDictionary<string, string> Databases, IReadOnlyList<string> Proxies, IReadOnlyList<string> Rest,
    IReadOnlyList<string> Admin, IReadOnlyDictionary<string, decimal> OpeningLimits,
    IReadOnlyList<StackProcess> Processes)
{
    /// <summary>The connection string of the first database, for programs that read the state file and
    /// know of one only.</summary>
    public string ConnectionString => Databases.Values.First();

    [JsonIgnore]
    public string Logs => StackFolder.LogsIn(Folder);

    /// <summary>The addresses of health and metrics, for operators' commands. Prometheus has an address, too, but the
    /// keeper does not start it again.</summary>
    public IReadOnlyList<string> Operators =>
    [
        .. Admin.Count > 0 ? Admin : Rest,
        .. Processes.Where(process => process.Restart is not null).Select(process => process.Address).OfType<string>()
            .Except(Proxies),
    ];

    /// <summary>The address of Prometheus, for operators' commands; null if it was not started.</summary>
    public string? Prometheus =>
        Processes.FirstOrDefault(process => process.Name == LocalPrometheus.Name)?.Address;

    public static StackState Of(BillingStack stack) => new(
        stack.Folder.FullName, stack.Transport, stack.Protocol, stack.BootstrapServers, stack.Databases,
        stack.ProxyAddresses, stack.RestAddresses, stack.AdminAddresses, BillingStack.OpeningLimits,
        [
            .. stack.Services.Select(s =>
                new StackProcess(s.Process.Name, s.Process.Identity, Signal.Terminate, s.Address, s.Process.Started)),
            .. (stack.Kafka?.Processes ?? []).Select(p => new StackProcess(p.Name, p.Identity, Signal.Terminate, null)),
            .. stack.Postgres?.Process is { } p
                ? [new StackProcess(p.Name, p.Identity, Signal.Interrupt, null)]
                : Array.Empty<StackProcess>(),
            .. stack.MoreDatabases.Select(d => d.Process).OfType<ChildProcess>()
                .Select(p => new StackProcess(p.Name, p.Identity, Signal.Interrupt, null)),
            // As on a machine, something must start them again when they end: they are what repairs the servers.
            .. (stack.Replicas?.Processes
                ?? []).Select(p => new StackProcess(p.Name, p.Identity, Signal.Terminate, null, p.Started)),
        ]);

    /// <summary>Reads the state file; null if there is no stack in the background.</summary>
    public static async Task<StackState?> ReadAsync()
    {
        if (!File.Exists(StackInBackground.File))
        {
            return null;
        }
        await using var file = File.OpenRead(StackInBackground.File);
        return await JsonSerializer.DeserializeAsync(file, StateJson.Default.StackState);
    }

    public async Task WriteAsync()
    {
        Directory.CreateDirectory(Path.GetDirectoryName(StackInBackground.File)!);
        // Written atomically, because the keeper writes while other processes read.
        var part = StackInBackground.File + ".part";
        await using (var file = File.Create(part))
        {
            await JsonSerializer.SerializeAsync(file, this, StateJson.Default.StackState);
        }
        File.Move(part, StackInBackground.File, overwrite: true);
    }

    public static void Delete()
    {
        if (Directory.Exists(StackInBackground.Credentials))
        {
            Directory.Delete(StackInBackground.Credentials, recursive: true);
        }
        File.Delete(StackInBackground.File);
    }
}

/// <summary>One process of a stack in the background.</summary>
/// <param name="Address">The address that it listens on, for display; null if it has none of interest.</param>
/// <param name="Restart">How to restart it when it has ended; null for processes that are not restarted.</param>
internal sealed record StackProcess(
    string Name, ProcessIdentity Identity, Signal StopSignal, string? Address, ChildProcessStart? Restart = null);

[JsonSourceGenerationOptions(WriteIndented = true, UseStringEnumConverter = true)]
[JsonSerializable(typeof(StackState))]
internal sealed partial class StateJson : JsonSerializerContext;
