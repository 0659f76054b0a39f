using System.Buffers;
using System.Threading.Channels;

namespace Billing.Journals;

/// <summary>A client's record of its payments and of the balances it received, written as the answers arrive, so that
/// an interrupted run can be audited too. Each entry is a line with the fields of <see cref="JournalEntry"/> in their
/// order, separated by commas.</summary>
public sealed class Journal : IAsyncDisposable
{
    private const int BatchBytes = 64 * 1024;

    private readonly Channel<JournalEntry> _entries =
        Channel.CreateUnbounded<JournalEntry>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Task _writing;

    /// <summary>Creates the file, or appends to it.</summary>
    public Journal(string path) => _writing = WriteAsync(path);

    /// <summary>Adds an entry. Thread-safe.</summary>
    public void Add(JournalEntry entry) => _entries.Writer.TryWrite(entry);

    /// <summary>Writes the remaining entries and closes the file; entries added later are dropped.</summary>
    public async ValueTask DisposeAsync()
    {
        _entries.Writer.TryComplete();
        await _writing;
    }

    private async Task WriteAsync(string path)
    {
        await using var file = new FileStream(path, FileMode.Append, FileAccess.Write, FileShare.Read, bufferSize: 0);
        var lines = new ArrayBufferWriter<byte>(2 * BatchBytes);
        while (await _entries.Reader.WaitToReadAsync())
        {
            while (lines.WrittenCount < BatchBytes && _entries.Reader.TryRead(out var entry))
            {
                entry.WriteTo(lines);
                lines.Write("\n"u8);
            }
            await file.WriteAsync(lines.WrittenMemory);
            lines.ResetWrittenCount();
        }
    }
}
