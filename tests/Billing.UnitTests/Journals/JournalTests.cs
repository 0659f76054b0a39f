using System.Text;
using Billing.Contracts;
using Billing.Journals;
using Billing.UnitTests.Testing;
using Billing.V1;
using FsCheck;
using FsCheck.Fluent;

namespace Billing.UnitTests.Journals;

public sealed class JournalTests : IDisposable
{
    private static readonly Gen<JournalEntry> Entries =
        from id in Generate.TransactionId
        from type in Generate.PaymentType
        from account in Generate.AccountId
        from amount in Generate.Amount
        from outcome in Gen.Elements(
            PaymentFate.Accepted, PaymentFate.Declined, PaymentFate.Failed, PaymentFate.Unknown)
        from reason in Gen.Elements(
            DeclineReason.Unspecified, DeclineReason.CreditLimitExceeded, DeclineReason.CurrencyMismatch)
        from began in Gen.Choose(1, int.MaxValue)
        from minVersion in Gen.Elements(0, 1, 12)
        from version in Gen.Choose(0, int.MaxValue)
        from balance in Generate.Amount
        from hasBalance in Gen.Elements(true, false)
        select new JournalEntry(
            id, StreamId.For(type, account), amount.CurrencyCode, amount.ToDecimal(), outcome, version,
            hasBalance ? balance.ToDecimal() : null, reason,
            new CallSpan(began, began + 5L), minVersion);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-journal-");

    private string Path => System.IO.Path.Combine(_folder.FullName, "journal.csv");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void An_entry_is_read_as_it_was_written() =>
        Entries.Holds(entry => Assert.Equal(entry, Parse(entry.ToString())));

    [Theory]
    [InlineData("")]
    [InlineData("a,b")]
    [InlineData("not-a-uuid,visa/a,USD,1,Accepted,1,2,,3,4,5")]
    [InlineData("ID,visa/a,USD,much,Accepted,1,2,,3,4,5")]
    [InlineData("ID,visa/a,USD,1,Perhaps,1,2,,3,4,5")]
    [InlineData("ID,visa/a,USD,1,Accepted,one,2,,3,4,5")]
    [InlineData("ID,visa/a,USD,1,Accepted,99999999999999999999,2,,3,4,5")]
    [InlineData("ID,visa/a,USD,1,Accepted,1,owed,,3,4,5")]
    [InlineData("ID,visa/a,USD,1,Accepted,1,2,Perhaps,3,4,5")]
    [InlineData("ID,visa/a,USD,1,Declined,1,2,Unspecified,3,4,5")]
    [InlineData("ID,visa/a,USD,1,Accepted,1,2,,,4,5")]
    [InlineData("ID,visa/a,USD,1,Accepted,1,2,,3,soon,5")]
    [InlineData("ID,visa/a,USD,1,Accepted,1,2,,3,4,")]
    [InlineData("ID,visa/a,USD,1,Accepted,1")]
    [InlineData("ID,visa/a,USD,1,Accepted,1,2,,3,4")]
    [InlineData("ID,visa/a,USD,1,Accepted,1,2,,3,4,5,6")]
    [InlineData("IDff,visa/a,USD,1,Accepted,1,2,,3,4,5")]
    public void An_invalid_line_is_rejected(string line) =>
        Assert.Throws<FormatException>(
            () => Parse(line.Replace("ID", Samples.TransactionId, StringComparison.Ordinal)));

    [Fact]
    public async Task Entries_added_from_many_tasks_are_all_written_once()
    {
        const int Tasks = 16;
        const int Each = 625;
        await using (var journal = new Journal(Path))
        {
            await Task.WhenAll(Enumerable.Range(0, Tasks).Select(task => Task.Run(() =>
            {
                for (var n = 1; n <= Each; n++)
                {
                    journal.Add(Entry(task, n));
                }
            })));
        }
        var read = JournalReader.Read(Path).ToList();
        Assert.Equal(Tasks * Each, read.Count);
        foreach (var group in read.GroupBy(e => e.StreamId))
        {
            Assert.Equal(Enumerable.Range(1, Each).Select(n => (long)n), group.Select(e => e.Version));
        }
    }

    [Fact]
    public async Task A_journal_opened_again_is_continued()
    {
        await using (var first = new Journal(Path))
        {
            first.Add(Entry(0, 1));
        }
        await using (var second = new Journal(Path))
        {
            second.Add(Entry(0, 2));
        }
        Assert.Equal([1L, 2L], JournalReader.Read(Path).Select(e => e.Version));
    }

    [Fact]
    public void An_incomplete_last_line_is_not_an_entry()
    {
        // As left by a killed client: the last line can be parsed as version 1, but may be the beginning of version 12.
        File.WriteAllText(Path, Entry(0, 1) + "\n" + Entry(0, 2) + "\n" + Entry(0, 1));
        Assert.Equal([1L, 2L], JournalReader.Read(Path).Select(e => e.Version));
    }

    [Theory]
    [InlineData("-7.5", -7.5)]
    [InlineData("", null)]
    public void The_seventh_field_is_the_balance_and_empty_without_an_answer(string field, double? balance)
    {
        var entry = Parse($"{Samples.TransactionId},visa/a,USD,1.25,Declined,1,{field},,3,4,0");

        Assert.Equal((decimal?)balance, entry.Balance);
    }

    [Theory]
    [InlineData(DeclineReason.CreditLimitExceeded)]
    [InlineData(DeclineReason.CurrencyMismatch)]
    public void The_eighth_field_is_the_reason_of_a_decline(DeclineReason reason)
    {
        var entry = Entry(0, 1) with { Outcome = PaymentFate.Declined, Balance = 3.5m, Reason = reason };
        Assert.EndsWith($",3.5,{reason},1,2,0", entry.ToString(), StringComparison.Ordinal);
        Assert.Equal(entry, Parse(entry.ToString()));
    }

    [Fact]
    public void The_last_fields_are_the_times_of_the_call_and_the_version_that_a_balance_had_to_include()
    {
        var payment = Entry(0, 1) with { Balance = 3.5m, Span = new CallSpan(10, 20) };
        var balance = payment with { TransactionId = Guid.Empty, Outcome = PaymentFate.Unknown, MinVersion = 7 };
        Assert.EndsWith(",1.25,Accepted,1,3.5,,10,20,0", payment.ToString(), StringComparison.Ordinal);
        Assert.EndsWith(",1.25,Unknown,1,3.5,,10,20,7", balance.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Entries_hold_what_was_sent_and_answered()
    {
        var (money, span) = (new Money { CurrencyCode = "USD", Units = 1, Nanos = 250_000_000 }, new CallSpan(10, 20));
        var request = new MakePaymentRequest
        {
            TransactionId = Samples.TransactionId,
            AccountId = "a",
            PaymentType = PaymentType.Visa,
            Amount = money,
        };
        var payment = Entry(0, 3) with { StreamId = "visa/a", Balance = 1.25m, Span = span };
        Assert.Equal(payment, JournalEntry.Of(
            request,
            new MakePaymentResponse { Outcome = PaymentOutcome.Accepted, Version = 3, Balance = money }, span));
        var failed = payment with { Outcome = PaymentFate.Failed, Version = 0, Balance = null };
        Assert.Equal(failed, JournalEntry.Failed(request, isFinal: true, span));
        Assert.Equal(failed with { Outcome = PaymentFate.Unknown }, JournalEntry.Failed(request, isFinal: false, span));
        Assert.Equal(
            new JournalEntry(
                Guid.Empty, "visa/a", "USD", 0, PaymentFate.Unknown, 3, 1.25m, DeclineReason.Unspecified, span, 2),
            JournalEntry.Of(
                new CheckBalanceRequest { AccountId = "a", PaymentType = PaymentType.Visa, MinVersion = 2 },
                new CheckBalanceResponse { Balance = money, Version = 3 }, span));
    }

    [Fact]
    public void Lines_with_both_line_endings_are_read()
    {
        var second = Entry(1, 2) with { Balance = 3.5m };
        File.WriteAllText(Path, $"{Entry(0, 1)}\r\n{second}\n");
        Assert.Equal([Entry(0, 1), second], JournalReader.Read(Path));
    }

    [Theory]
    [InlineData("nonsense")]
    [InlineData("")]
    public void An_invalid_line_is_reported_with_file_and_line_number(string line)
    {
        File.WriteAllText(Path, $"{Entry(0, 1)}\n{Entry(0, 2)}\n{line}\n{Entry(0, 3)}\n");
        var refusal = Assert.Throws<FormatException>(() => JournalReader.Read(Path).Count());
        Assert.Contains($"{Path}, line 3: '{line}'", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_long_file_without_line_endings_is_not_a_journal()
    {
        File.WriteAllText(Path, new string('a', 1_000_000));
        Assert.Contains(
            ", line 1:", Assert.Throws<FormatException>(() => JournalReader.Read(Path).Count()).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_growing_journal_is_read_only_up_to_the_given_length()
    {
        var first = Entry(0, 1) + "\n";
        File.WriteAllText(Path, first + Entry(0, 2) + "\n");
        using var reader = new JournalReader(Path, first.Length + 5);

        Assert.True(reader.TryRead(out var entry));
        Assert.Equal(1, entry.Version);
        Assert.Equal(first.Length, reader.Position);
        Assert.False(reader.TryRead(out _));
    }

    [Fact]
    public void Entries_that_cross_the_end_of_the_buffer_are_read()
    {
        const int Count = 20_000;
        File.WriteAllLines(Path, Enumerable.Range(1, Count).Select(n => Entry(n % 7, n).ToString()));
        Assert.Equal(Enumerable.Range(1, Count).Select(n => Entry(n % 7, n)), JournalReader.Read(Path));
    }

    private static JournalEntry Parse(string line) =>
        JournalReader.TryParse(Encoding.UTF8.GetBytes(line), new TextPool(), out var entry)
            ? entry
            : throw new FormatException($"'{line}' is not a line of a journal.");

    private static JournalEntry Entry(int account, long version) => new(
        Guid.Parse(Samples.TransactionId), $"visa/acct-{account}", "USD", 1.25m, PaymentFate.Accepted, version,
        Balance: null, DeclineReason.Unspecified, new CallSpan(1, 2));
}
