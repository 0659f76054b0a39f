using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.Operator.Arguments;
using Confluent.Kafka;
using Spectre.Console;

namespace Billing.Operator.DeadLetters;

/// <summary>The commands of <c>dead-letters</c>: <c>list</c>, <c>show</c>, <c>replay</c>.</summary>
internal sealed class DeadLetterCommandHandler(KafkaOptions options, IAnsiConsole console)
{
    public int List(int limit)
    {
        using var archive = new DeadLetterArchive(options);
        var letters = archive.ReadNewest(limit);
        if (letters.Count == 0)
        {
            console.WriteLine("There are no dead letters.");
            return 0;
        }
        var table = new Table().Border(TableBorder.Rounded)
            .AddColumns("Id", "Time", "Origin", "Account", "Bytes", "Reason", "Replay of");
        table.Columns[4].RightAligned();
        // Only the reason, the longest column, wraps.
        foreach (var column in table.Columns.Where((_, number) => number != 5))
        {
            column.NoWrap();
        }
        foreach (var letter in letters)
        {
            table.AddRow(
                new Text(letter.Id.ToString()), new Text(DeadLetterText.Time(letter)),
                new Text(DeadLetterText.Origin(letter)), new Text(DeadLetterText.OfBytes(letter.Key)),
                new Text(DeadLetterText.Size(letter)), new Text(UntrustedText.Printable(letter.Reason)),
                new Text(UntrustedText.Printable(letter.ReplayedFrom ?? "")));
        }
        console.Write(table);
        console.WriteLine($"{letters.Count} of {archive.Count} dead letters, the newest first.");
        return 0;
    }

    public async Task<int> ShowAsync(DeadLetterId id, string? raw, CancellationToken cancellationToken)
    {
        using var archive = new DeadLetterArchive(options);
        var letter = archive.Find(id) ?? throw NoSuchLetter(id);
        Line($"Id         {letter.Id}");
        Line($"Time       {DeadLetterText.Time(letter)}");
        Line($"Reason     {UntrustedText.Printable(letter.Reason)}");
        Line($"Origin     {DeadLetterText.Origin(letter)}");
        Line($"Key        {DeadLetterText.OfBytes(letter.Key)}");
        Line($"Bytes      {DeadLetterText.Size(letter)}");
        foreach (var (name, value) in letter.Headers)
        {
            Line($"Header     {UntrustedText.Printable(name)}: {DeadLetterText.OfBytes(value)}");
        }
        Line(DeadLetterText.TryDecode(letter, out var decoded) ? decoded : $"The value is not a message: {decoded}");
        foreach (var line in DeadLetterText.Dump(letter.Value ?? []))
        {
            Line(line);
        }
        if (raw is not null)
        {
            await File.WriteAllBytesAsync(raw, letter.Value ?? [], cancellationToken);
            Line($"Written to {raw}: {letter.Value?.Length ?? 0} bytes");
        }
        return 0;
    }

    /// <summary>Replays the dead letters with these ids, or all current ones if no id is given.</summary>
    public async Task<int> ReplayAsync(
        IReadOnlyList<DeadLetterId> ids, bool keepDeadline, CancellationToken cancellationToken)
    {
        using var archive = new DeadLetterArchive(options);
        var letters =
            ids.Count == 0 ? archive.Read() : [.. ids.Select(id => archive.Find(id) ?? throw NoSuchLetter(id))];
        using var replay = new DeadLetterReplay(options);
        long replayed = 0, refused = 0;
        foreach (var letter in letters)
        {
            if (DeadLetterReplay.Refusal(letter) is { } refusal)
            {
                refused++;
                Line($"{letter.Id} is not replayed: {UntrustedText.Printable(refusal)}");
                continue;
            }
            try
            {
                var (place, isCleared) = await replay.SendAsync(letter, keepDeadline, cancellationToken);
                replayed++;
                Line($"{letter.Id} -> {place}{(isCleared ? ", its deadline cleared" : "")}");
            }
            catch (KafkaException e)
            {
                throw new CommandException(
                    $"{letter.Id} was not accepted by the brokers: {e.Error.Reason}. "
                        + $"{replayed} were replayed before it.", e);
            }
        }
        Line(
            $"Replayed {replayed}, refused {refused}. A payment replayed twice is charged once: the second is answered "
            + "from its receipt. Records that still cannot be processed become new dead letters.");
        return refused == 0 ? 0 : 1;
    }

    // Not console.WriteLine, which wraps lines at the width of the terminal: these lines are meant to be copied.
    private void Line(string text) => console.Profile.Out.Writer.WriteLine(text);

    private static CommandException NoSuchLetter(DeadLetterId id) => new($"There is no dead letter {id}.");
}
