using System.CommandLine;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Operator.DeadLetters;

/// <summary><c>dead-letters</c>: shows and replays records that could not be processed.</summary>
internal static class DeadLettersCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var kafka = KafkaFlags.Brokers();
        return new Command("dead-letters", "Records that could not be processed: list, show, replay.")
        {
            List(console, kafka), Show(console, kafka), Replay(console, kafka), kafka,
        };
    }

    private static Command List(IAnsiConsole console, Option<string?> kafka)
    {
        var limit = Flags.Number("--limit", "Dead letters to list, the newest first", 50, 1, 100_000);
        var command = new Command("list", "Lists the newest dead letters.") { limit };
        return command.Does(async (parsed, _) =>
            new DeadLetterCommandHandler(await KafkaFlags.ReadAsync(parsed.GetValue(kafka)), console).List(
                parsed.GetValue(limit)));
    }

    private static Command Show(IAnsiConsole console, Option<string?> kafka)
    {
        var id = Ids("ID", ArgumentArity.ExactlyOne);
        var raw = Flags.Text("--raw", "File for the original bytes", "FILE");
        var command = new Command(
            "show",
            "Shows one dead letter: headers, reason, origin, the command as JSON if it can be decoded, and its bytes.")
        {
            id, raw,
        };
        return command.Does(async (parsed, cancellationToken) =>
            await new DeadLetterCommandHandler(await KafkaFlags.ReadAsync(parsed.GetValue(kafka)), console).ShowAsync(
                parsed.GetRequiredValue(id)[0], parsed.GetValue(raw), cancellationToken));
    }

    private static Command Replay(IAnsiConsole console, Option<string?> kafka)
    {
        var ids = Ids("ID", ArgumentArity.ZeroOrMore);
        var all = new Option<bool>("--all") { Description = "All current dead letters" };
        var asIs = new Option<bool>("--as-is")
        {
            Description =
                "Keep a command's deadline; by default it is cleared, because it has passed and the command would be "
                + "rejected as expired",
        };
        var command = new Command(
            "replay",
            "Sends dead letters back to the topics they came from, with their original key, bytes and headers. "
                + "Replaying a payment twice is safe: it is charged once.")
        {
            ids, all, asIs,
        };
        command.Validators.Add(result =>
        {
            if (result.GetValue(all) == (result.GetValue(ids) is { Length: > 0 }))
            {
                result.AddError("Give either dead-letter ids or --all.");
            }
        });
        return command.Does(async (parsed, cancellationToken) =>
            await new DeadLetterCommandHandler(await KafkaFlags.ReadAsync(parsed.GetValue(kafka)), console).ReplayAsync(
                parsed.GetValue(ids) ?? [], parsed.GetValue(asIs), cancellationToken));
    }

    private static Argument<DeadLetterId[]> Ids(string name, ArgumentArity arity) => new(name)
    {
        Description = "Id of a dead letter, as list prints it: its offset, or PARTITION:OFFSET",
        Arity = arity,
        CustomParser = result =>
        {
            var ids = new List<DeadLetterId>();
            foreach (var token in result.Tokens)
            {
                if (!DeadLetterId.TryParse(token.Value, out var id))
                {
                    result.AddError(
                        $"'{token.Value}' is not the id of a dead letter; `dead-letters list` prints the ids.");
                }
                ids.Add(id);
            }
            return [.. ids];
        },
    };
}
