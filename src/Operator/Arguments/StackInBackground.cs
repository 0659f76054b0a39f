using System.Text.Json;
using System.Text.Json.Serialization;

namespace Billing.Operator.Arguments;

/// <summary>The platform of a command whose options name no other: the stack that <c>./billing up</c> has started.
/// </summary>
/// <param name="Databases">The connection string of each database of the event store, by its name.</param>
/// <param name="BootstrapServers">The brokers; null if the stack has none.</param>
/// <param name="Proxies">The addresses at which callers reach the proxies.</param>
/// <param name="Operators">The addresses of health and metrics of all services.</param>
/// <param name="OpeningLimits">What an account may owe before a limit is set, by its currency.</param>
/// <param name="Prometheus">The address of the Prometheus that watches the stack; null if there is none.</param>
internal sealed record StackInBackground(
    IReadOnlyDictionary<string, string> Databases, string? BootstrapServers, IReadOnlyList<string> Proxies,
    IReadOnlyList<string> Operators, IReadOnlyDictionary<string, decimal> OpeningLimits, string? Prometheus)
{
    /// <summary>The file that describes the stack; a clone of the repository has one stack at most.</summary>
    public static string File => Path.Combine(
        Environment.GetEnvironmentVariable("BILLING_STATE") is { Length: > 0 } folder
            ? folder
            : Path.Combine(Directory.GetCurrentDirectory(), ".billing"),
        "stack.json");

    /// <summary>The folder of the stack's credentials, if it has any; a path that is short to type.</summary>
    public static string Credentials => Path.Combine(Path.GetDirectoryName(File)!, "credentials");

    /// <summary>Reads the file; null if there is no stack in the background.</summary>
    public static async Task<StackInBackground?> ReadAsync()
    {
        if (!System.IO.File.Exists(File))
        {
            return null;
        }
        await using var file = System.IO.File.OpenRead(File);
        return await JsonSerializer.DeserializeAsync(file, StackInBackgroundJson.Default.StackInBackground);
    }

    /// <summary>Returns the databases of the event store that are given, or those of the stack.</summary>
    /// <exception cref="CommandException">There are neither.</exception>
    public static async Task<IReadOnlyDictionary<string, string>> DatabasesAsync(
        IReadOnlyDictionary<string, string>? given) => given is { Count: > 0 }
        ? given
        : (await ReadAsync())?.Databases
            ?? throw new CommandException("--postgres is missing, and no stack is running.");
}

[JsonSerializable(typeof(StackInBackground))]
internal sealed partial class StackInBackgroundJson : JsonSerializerContext;
