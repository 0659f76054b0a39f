using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.LocalStack;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Background;

/// <summary>The stack that <c>up</c> started, as stored in the state file for <c>status</c> and <c>down</c>.</summary>
/// <param name="Databases">The connection string of each database of the event store, by its name.</param>
/// <param name="Processes">The processes, in the order in which they must be stopped.</param>
internal sealed record StackState(
    string Folder, string Transport, string? Protocol, string? BootstrapServers, IReadOnlyDictionary<string, string> Databases, IReadOnlyList<string> Proxies,
    IReadOnlyList<string> Rest, IReadOnlyList<string> Admin, IReadOnlyList<StackProcess> Processes)
{
    /// <summary>The connection string of the first database, for programs that read the state file and know of one only.</summary>
    public string ConnectionString => Databases.Values.First();

    [JsonIgnore]
    public string Logs => StackFolder.LogsIn(Folder);

    /// <summary>The state file, one per clone of the repository: each clone may have one stack in the background.</summary>
    public static string File => Path.Combine(
        Environment.GetEnvironmentVariable("BILLING_STATE") is { Length: > 0 } folder
            ? folder
            : Path.Combine(Directory.GetCurrentDirectory(), ".billing"),
        "stack.json");

    /// <summary>The folder of the credentials of the stack in the background, if it has any; a path that is short to type.
    /// </summary>
    public static string Credentials => Path.Combine(Path.GetDirectoryName(File)!, "credentials");

    public static StackState Of(BillingStack stack) => new(
        stack.Folder.FullName, stack.Transport, stack.Protocol, stack.BootstrapServers, stack.Databases,
        stack.ProxyAddresses, stack.RestAddresses, stack.AdminAddresses,
        [
            .. stack.Services.Select(s => new StackProcess(s.Process.Name, s.Process.Identity, Signal.Terminate, s.Address, s.Process.Started)),
            .. (stack.Kafka?.Processes ?? []).Select(p => new StackProcess(p.Name, p.Identity, Signal.Terminate, null)),
            .. stack.Postgres?.Process is { } p ? [new StackProcess(p.Name, p.Identity, Signal.Interrupt, null)] : Array.Empty<StackProcess>(),
            .. stack.MoreDatabases.Select(d => d.Process).OfType<ChildProcess>().Select(p => new StackProcess(p.Name, p.Identity, Signal.Interrupt, null)),
            // As on a machine, something must start them again when they end: they are what repairs the servers.
            .. (stack.Replicas?.Processes ?? []).Select(p => new StackProcess(p.Name, p.Identity, Signal.Terminate, null, p.Started)),
        ]);

    /// <summary>Reads the state file; null if there is no stack in the background.</summary>
    public static async Task<StackState?> ReadAsync()
    {
        if (!System.IO.File.Exists(File))
        {
            return null;
        }
        await using var file = System.IO.File.OpenRead(File);
        return await JsonSerializer.DeserializeAsync(file, StateJson.Default.StackState);
    }

    public async Task WriteAsync()
    {
        Directory.CreateDirectory(Path.GetDirectoryName(File)!);
        // Written atomically, because the keeper writes while other processes read.
        var part = File + ".part";
        await using (var file = System.IO.File.Create(part))
        {
            await JsonSerializer.SerializeAsync(file, this, StateJson.Default.StackState);
        }
        System.IO.File.Move(part, File, overwrite: true);
    }

    /// <summary>Returns the databases of the event store that are given, or those of the stack in the background.</summary>
    public static async Task<IReadOnlyDictionary<string, string>> DatabasesAsync(IReadOnlyDictionary<string, string>? given) =>
        given is { Count: > 0 } ? given : (await ReadAsync())?.Databases ?? throw new StackException("--postgres is missing, and no stack is running.");

    public static void Delete()
    {
        if (Directory.Exists(Credentials))
        {
            Directory.Delete(Credentials, recursive: true);
        }
        System.IO.File.Delete(File);
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
