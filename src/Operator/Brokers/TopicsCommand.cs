using System.CommandLine;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Operator.Arguments;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Spectre.Console;

namespace Billing.Operator.Brokers;

/// <summary><c>topics</c>: creates the shared topics and the access rules for them, for brokers where the services have
/// no permission to create topics.</summary>
internal static class TopicsCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var kafka = KafkaFlags.Brokers();
        var partitions = new Option<int?>("--partitions")
        {
            Description = "Partitions of each new request topic; by default the number in the settings",
            HelpName = "N",
        }
            .Refuse(text => int.TryParse(text, out var given) && given is < 1 or > 10_000
                ? "--partitions must be between 1 and 10000."
                : null);
        var access = Flags.Text("--access", "Access list, such as deploy/bootstrap/kafka/access.txt", "FILE");
        var proxies = new Option<string[]>("--proxy")
        {
            Description =
                "Name of a proxy, for the lines of the access list that stand for each; may be given more than once",
            HelpName = "NAME",
        };
        var command = new Command("topics", "Creates the missing shared topics, and applies an access list.")
        {
            kafka, partitions, access, proxies,
        };
        return command.Does(async (parsed, _) =>
        {
            var options = await KafkaFlags.ReadAsync(parsed.GetValue(kafka));
            options.Partitions = parsed.GetValue(partitions) ?? options.Partitions;
            await CreateTopicsAsync(console, options, parsed.GetValue(access), parsed.GetValue(proxies) ?? []);
            return 0;
        });
    }

    private static async Task CreateTopicsAsync(
        IAnsiConsole console, KafkaOptions options, string? access, string[] proxies)
    {
        if (Array.Find(proxies, name => !ProxyId.IsName(name)) is { } wrong)
        {
            throw new CommandException(
                $"--proxy: '{wrong}' must be at most {ProxyId.NameLengthMax} of the characters A-Z a-z 0-9 _ -.");
        }
        if (access is not null && !File.Exists(access))
        {
            throw new CommandException($"--access: there is no file '{access}'.");
        }
        // Read first, so that nothing is created if the list is invalid.
        var allowed = access is null ? [] : KafkaAccess.Parse(await File.ReadAllLinesAsync(access), proxies);
        await new KafkaTopics(Options.Create(options), TimeProvider.System, NullLogger<KafkaTopics>.Instance)
            .EnsureSharedAsync();
        console.WriteLine("The topics exist.");
        if (access is not null)
        {
            await KafkaAccess.AllowAsync(options, allowed);
            console.WriteLine($"{allowed.Count} access rules applied.");
        }
    }
}
