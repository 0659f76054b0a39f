using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.LocalStack;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Background;

/// <summary>What <c>up</c> started, written down for <c>status</c> and <c>down</c>.</summary>
internal sealed record StackState
{
    public required string Folder { get; init; }
    public required string Transport { get; init; }
    public string? Protocol { get; init; }
    public required string? BootstrapServers { get; init; }
    public required string ConnectionString { get; init; }
    public required IReadOnlyList<string> Proxies { get; init; }
    public IReadOnlyList<string> Rest { get; init; } = [];
    public IReadOnlyList<string> Admin { get; init; } = [];

    /// <summary>The processes in the order in which they are to be stopped.</summary>
    public required IReadOnlyList<StackProcess> Processes { get; init; }

    /// <summary>The folder that holds one log file a program.</summary>
    [JsonIgnore]
    public string Logs => StackFolder.LogsIn(Folder);

    /// <summary>One file a clone of the repository: each may have one stack in the background.</summary>
    public static string File => Path.Combine(
        Environment.GetEnvironmentVariable("BILLING_STATE") is { Length: > 0 } folder
            ? folder
            : Path.Combine(Directory.GetCurrentDirectory(), ".billing"),
        "stack.json");

    /// <summary>Where the stack in the background keeps its credentials, if it has any: a path that is short to write.</summary>
    public static string Credentials => Path.Combine(Path.GetDirectoryName(File)!, "credentials");

    public static StackState Of(BillingStack stack) => new()
    {
        Folder = stack.Folder.FullName,
        Transport = stack.Transport,
        Protocol = stack.Protocol,
        BootstrapServers = stack.BootstrapServers,
        ConnectionString = stack.ConnectionString,
        Proxies = stack.ProxyAddresses,
        Rest = stack.RestAddresses,
        Admin = stack.AdminAddresses,
        Processes =
        [
            .. stack.Services.Select(s => new StackProcess(s.Process.Name, s.Process.Identity, Signal.Terminate, s.Address, s.Process.Started)),
            .. (stack.Kafka?.Processes ?? []).Select(p => new StackProcess(p.Name, p.Identity, Signal.Terminate, null)),
            .. stack.Postgres?.Process is { } p ? [new StackProcess(p.Name, p.Identity, Signal.Interrupt, null)] : Array.Empty<StackProcess>(),
        ],
    };

    /// <summary>The stack in the background, or null.</summary>
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
        // As a whole or not at all: the keeper writes while others read.
        var part = File + ".part";
        await using (var file = System.IO.File.Create(part))
        {
            await JsonSerializer.SerializeAsync(file, this, StateJson.Default.StackState);
        }
        System.IO.File.Move(part, File, overwrite: true);
    }

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
/// <param name="Name">Its name within the stack.</param>
/// <param name="Identity">What finds it.</param>
/// <param name="StopSignal">What asks it to end.</param>
/// <param name="Address">Where it listens, if somebody may want to know.</param>
/// <param name="Restart">How to start it again when it has ended; null for one that is not.</param>
internal sealed record StackProcess(
    string Name, ProcessIdentity Identity, Signal StopSignal, string? Address, ChildProcessStart? Restart = null);

[JsonSourceGenerationOptions(WriteIndented = true, UseStringEnumConverter = true)]
[JsonSerializable(typeof(StackState))]
internal sealed partial class StateJson : JsonSerializerContext;
