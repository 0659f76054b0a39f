using System.CommandLine;
using System.Globalization;
using Billing.LocalStack.Processes;
using Billing.Messaging.Kafka;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary><c>topics</c>: makes the shared topics and says who may use them, for brokers where the services may not make
/// topics of their own.</summary>
internal static class TopicsCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var kafka = KafkaFlags.Brokers();
        var partitions = new Option<int?>("--partitions") { Description = "Partitions of each request topic that has to be made; by default what the settings say", HelpName = "N" };
        var access = new Option<string?>("--access") { Description = "File that says who may do what, such as deploy/bootstrap/kafka/access.txt", HelpName = "FILE" };
        partitions.Validators.Add(result =>
        {
            if (result.Tokens.Count > 0 && result.GetValueOrDefault<int?>() is < 1 or > 10_000)
            {
                result.AddError("--partitions must be between 1 and 10000.");
            }
        });
        var command = new Command("topics", "Makes the request, event and dead-letter topics where they are missing, and applies an access list.")
        {
            kafka, partitions, access,
        };
        command.SetAction((parsed, _) => BillingCommand.GuardedAsync(async () =>
        {
            var options = await KafkaFlags.ReadAsync(parsed.GetValue(kafka));
            options.Partitions = parsed.GetValue(partitions) ?? options.Partitions;
            await MakeAsync(console, options, parsed.GetValue(access));
            return 0;
        }));
        return command;
    }

    private static async Task MakeAsync(IAnsiConsole console, KafkaOptions options, string? access)
    {
        if (access is not null && !File.Exists(access))
        {
            throw new StackException($"--access: there is no file '{access}'.");
        }
        // Read before anything is made: a mistake in it makes nothing.
        var allowed = access is null ? [] : KafkaAccess.Parse(await File.ReadAllLinesAsync(access));
        await new KafkaTopics(Options.Create(options), TimeProvider.System, NullLogger<KafkaTopics>.Instance).EnsureSharedAsync();
        console.WriteLine("The topics are there.");
        if (access is not null)
        {
            await KafkaAccess.AllowAsync(options, allowed);
            console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{allowed.Count} rights are given."));
        }
    }
}
