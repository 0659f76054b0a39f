using System.Globalization;
using System.Text;
using System.Threading.Channels;
using Billing.Contracts;
using Billing.V1;

namespace Billing.Client.Load;

/// <summary>What became of one payment, as its client knows it, or a balance that a client was told: one line of a journal.
/// </summary>
/// <param name="TransactionId">The idempotency key; empty for a balance, which has no amount and no outcome.</param>
/// <param name="StreamId">The account's stream.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="Amount">The amount.</param>
/// <param name="Outcome">Accepted, declined, or unspecified where no answer came: such a payment may or may not be
/// recorded.</param>
/// <param name="Version">The version of the stream that records it, or that a balance is of; 0 where no answer came.</param>
/// <param name="Balance">What the account owed after it, as its client was told; null where no answer came, and in journals
/// from before they held it.</param>
/// <param name="Reason">Why it was declined, as its client was told; unspecified where it was not declined, and in journals from
/// before they held it.</param>
public readonly record struct JournalEntry(
    Guid TransactionId, string StreamId, string Currency, decimal Amount, PaymentOutcome Outcome, long Version,
    decimal? Balance = null, DeclineReason Reason = DeclineReason.Unspecified)
{
    /// <summary>Whether this is a balance that was asked for, and not a payment.</summary>
    public bool IsBalance => TransactionId == Guid.Empty;

    /// <summary>The entry of a payment.</summary>
    /// <param name="request">What was asked.</param>
    /// <param name="response">What was answered; null where nothing was.</param>
    public static JournalEntry Of(MakePaymentRequest request, MakePaymentResponse? response) => new(
        Guid.Parse(request.TransactionId), Contracts.StreamId.For(request.PaymentType, request.AccountId),
        request.Amount.CurrencyCode, request.Amount.ToDecimal(), response?.Outcome ?? PaymentOutcome.Unspecified,
        response?.Version ?? 0, response?.Balance.ToDecimal(), response?.DeclineReason ?? DeclineReason.Unspecified);

    /// <summary>The entry of a balance.</summary>
    /// <param name="request">What was asked.</param>
    /// <param name="response">What was answered.</param>
    public static JournalEntry Of(CheckBalanceRequest request, CheckBalanceResponse response) => new(
        Guid.Empty, Contracts.StreamId.For(request.PaymentType, request.AccountId), response.Balance.CurrencyCode, 0,
        PaymentOutcome.Unspecified, response.Version, response.Balance.ToDecimal());

    /// <summary>Reads a line: the fields in order, with commas between; the last two may be left out.</summary>
    /// <exception cref="FormatException">It is not a journal's line.</exception>
    public static JournalEntry Parse(string line) =>
        JournalReader.TryParse(Encoding.UTF8.GetBytes(line), new TextPool(), out var entry)
            ? entry
            : throw new FormatException($"'{line}' is not a line of a journal.");

    /// <inheritdoc/>
    public override string ToString()
    {
        var line = string.Create(CultureInfo.InvariantCulture, $"{TransactionId},{StreamId},{Currency},{Amount},{Outcome},{Version}");
        return Balance is not { } balance ? line
            : Reason == DeclineReason.Unspecified ? string.Create(CultureInfo.InvariantCulture, $"{line},{balance}")
            : string.Create(CultureInfo.InvariantCulture, $"{line},{balance},{Reason}");
    }
}

/// <summary>A client's record of its payments and of the balances it was told, written as the answers come, so that a run that is cut short can be audited
/// too. One line an entry, in the order of <see cref="JournalEntry"/>'s fields, with commas between.</summary>
public sealed class Journal : IAsyncDisposable
{
    private readonly Channel<JournalEntry> _entries =
        Channel.CreateUnbounded<JournalEntry>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Task _writing;

    /// <summary>Creates the file, or adds to it.</summary>
    public Journal(string path) => _writing = WriteAsync(path);

    /// <summary>Adds an entry. Safe from any thread.</summary>
    public void Add(JournalEntry entry) => _entries.Writer.TryWrite(entry);

    /// <summary>Reads a journal. A last line without its end is left out: a client that was killed may have written part of
    /// an entry, and that part may look whole.</summary>
    /// <exception cref="FormatException">The file is not a journal; the message names file and line.</exception>
    public static IEnumerable<JournalEntry> Read(string path)
    {
        using var reader = new JournalReader(path);
        while (reader.TryRead(out var entry))
        {
            yield return entry;
        }
    }

    /// <summary>Writes what is left and closes the file.</summary>
    public async ValueTask DisposeAsync()
    {
        _entries.Writer.Complete();
        await _writing;
    }

    private async Task WriteAsync(string path)
    {
        await using var file = new StreamWriter(path, append: true);
        while (await _entries.Reader.WaitToReadAsync())
        {
            while (_entries.Reader.TryRead(out var entry))
            {
                await file.WriteLineAsync(entry.ToString());
            }
            await file.FlushAsync();
        }
    }
}
