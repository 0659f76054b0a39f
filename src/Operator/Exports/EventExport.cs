using System.Globalization;
using System.Text;
using Billing.Auditing.Exports;
using Billing.Operator.Arguments;
using Billing.Operator.Files;

namespace Billing.Operator.Exports;

/// <summary>Writes days to files of a folder. A file gets its name when all of it is on the disk, and counts when the
/// manifest has it: whatever ends an export, the next one goes on after the days that the manifest has.</summary>
/// <param name="folder">The folder.</param>
/// <param name="format">The format of the files.</param>
internal sealed class EventExport(string folder, ExportFormat format)
{
    /// <summary>What is added to the name of a file until all of it is there.</summary>
    public const string PartExtension = ".part";

    private const int BufferBytes = 1 << 16;

    /// <summary>Creates the folder, and keeps other exports away from it.</summary>
    /// <exception cref="CommandException">The folder cannot be written to.</exception>
    public async Task<IDisposable> EnterAsync(CancellationToken cancellationToken)
    {
        try
        {
            Directory.CreateDirectory(folder);
            return await FileLock.AcquireAsync(Path.Combine(folder, ".export.lock"), cancellationToken);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw NotWritten(folder, e);
        }
    }

    /// <summary>The days that the folder lacks.</summary>
    /// <exception cref="CommandException">A file was altered.</exception>
    public IReadOnlyList<DateOnly> Missing(DateOnly from, DateOnly to)
    {
        var files = ExportManifest.Read(folder).Days.SelectMany(day => day.Files)
            .ToDictionary(file => file.Name, StringComparer.Ordinal);
        var days = Enumerable.Range(0, to.DayNumber - from.DayNumber + 1).Select(from.AddDays);
        return [.. days.Where(day => !IsThere(NameOf(day), files.GetValueOrDefault(NameOf(day))))];
    }

    /// <summary>Writes a day.</summary>
    /// <returns>The day as the manifest has it.</returns>
    /// <exception cref="CommandException">It cannot be written, or is not what it was when it
    /// was exported before.</exception>
    public async Task<ExportedDay> WriteAsync(
        DateOnly day, IAsyncEnumerable<ExportedEvent> events, CancellationToken cancellationToken)
    {
        var target = Path.Combine(folder, NameOf(day));
        var part = target + PartExtension;
        try
        {
            var (totals, first, last) = await WriteAsync(part, events, cancellationToken);
            var manifest = ExportManifest.Read(folder);
            var former = manifest.Days.FirstOrDefault(known => known.Date == day);
            var file = new ExportedFile(NameOf(day), FileHash.Of(part), new FileInfo(part).Length);
            var written = new ExportedDay(
                day, totals.Events, totals.Kinds, totals.Sums, totals.OnHold, first?.Position, last?.Position,
                [
                    .. (former?.Files ?? []).Where(other => other.Name != file.Name).Append(file)
                        .OrderBy(other => other.Name, StringComparer.Ordinal),
                ]);
            if (former is not null && !IsSame(former, written))
            {
                throw new CommandException(
                    $"The event store has other events of {NameOf(day)} than when that day was exported, "
                    + $"which {ExportManifest.FileName} describes. What it has now is in '{part}'; "
                    + "./billing audit --export names the differences.");
            }
            File.Move(part, target, overwrite: true);
            await WriteAsync(manifest.With(written), cancellationToken);
            return written;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            if (File.Exists(part))
            {
                File.Delete(part);
            }
            throw NotWritten(target, e);
        }
    }

    private string NameOf(DateOnly day) =>
        string.Create(CultureInfo.InvariantCulture, $"events-{day:yyyy-MM-dd}.{format.Name}");

    private bool IsThere(string name, ExportedFile? recorded)
    {
        var file = Path.Combine(folder, name);
        if (recorded is null || !File.Exists(file))
        {
            return false;
        }
        return FileHash.Of(file) == recorded.Sha256 ? true : throw new CommandException(
            $"--out: '{file}' is not what was exported: its SHA-256 is not the one in {ExportManifest.FileName}. "
            + "Move it away, and the day is written again.");
    }

    // Of the same format the same bytes; of another one the same totals.
    private static bool IsSame(ExportedDay former, ExportedDay written) =>
        (former with { Files = [] }).ToJson().AsSpan().SequenceEqual((written with { Files = [] }).ToJson())
        && former.Files.All(written.Files.Contains);

    private async Task<(EventTotals Totals, ExportedEvent? First, ExportedEvent? Last)> WriteAsync(
        string part, IAsyncEnumerable<ExportedEvent> events, CancellationToken cancellationToken)
    {
        var totals = new EventTotals();
        var (first, last) = ((ExportedEvent?)null, (ExportedEvent?)null);
        await using var file = new FileStream(part, FileMode.Create, FileAccess.Write, FileShare.None, BufferBytes);
        await using var text = new StreamWriter(
            file, new UTF8Encoding(encoderShouldEmitUTF8Identifier: false), BufferBytes)
        { NewLine = "\n" };
        await text.WriteAsync(format.Header);
        await foreach (var e in events.WithCancellation(cancellationToken))
        {
            format.Write(text, e);
            totals.Add(e.Kind, e.Entry.Amount?.CurrencyCode, e.Amount, e.Fact.AccountCurrency, e.OnHold);
            (first, last) = (first ?? e, e);
        }
        await text.FlushAsync(cancellationToken);
        file.Flush(flushToDisk: true);
        return (totals, first, last);
    }

    private async Task WriteAsync(ExportManifest manifest, CancellationToken cancellationToken)
    {
        var target = Path.Combine(folder, ExportManifest.FileName);
        await using (var file = new FileStream(
            target + PartExtension, FileMode.Create, FileAccess.Write, FileShare.None))
        {
            await file.WriteAsync(manifest.ToJson(), cancellationToken);
            file.Flush(flushToDisk: true);
        }
        File.Move(target + PartExtension, target, overwrite: true);
    }

    private static CommandException NotWritten(string path, Exception e) =>
        new($"--out: '{path}' cannot be written: {e.Message}", e);
}
