using System.Text;

namespace Billing.LocalStack.Processes;

/// <summary>Reads the complete lines of a log that another process is writing.</summary>
internal sealed class LogReader : IDisposable
{
    private const int LongestTail = 64 * 1024;

    private readonly FileStream _file;
    private readonly byte[] _buffer = new byte[16 * 1024];
    private readonly MemoryStream _incomplete = new();
    private readonly Queue<string> _lines = new();

    public LogReader(string path, long start)
    {
        // OpenOrCreate, because the program's shell may not have created the file yet.
        _file = new FileStream(
            path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete);
        _file.Position = start;
    }

    /// <summary>Returns the next complete line, or null if there is none yet.</summary>
    public async ValueTask<string?> ReadLineAsync(CancellationToken cancellationToken)
    {
        while (_lines.Count == 0)
        {
            var read = await _file.ReadAsync(_buffer, cancellationToken);
            if (read == 0)
            {
                return null;
            }

            Split(_buffer.AsSpan(0, read));
        }

        return _lines.Dequeue();
    }

    /// <summary>Returns the last lines, including an incomplete one.</summary>
    public IReadOnlyList<string> LastLines(int count)
    {
        _file.Position = Math.Max(_file.Position, _file.Length - LongestTail);
        using var reader = new StreamReader(_file, Encoding.UTF8, leaveOpen: true);
        return [.. reader.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries).TakeLast(count)];
    }

    public void Dispose()
    {
        _file.Dispose();
        _incomplete.Dispose();
    }

    private void Split(ReadOnlySpan<byte> bytes)
    {
        while (bytes.IndexOf((byte)'\n') is >= 0 and var end)
        {
            _incomplete.Write(bytes[..end]);
            _lines.Enqueue(Encoding.UTF8.GetString(_incomplete.GetBuffer(), 0, (int)_incomplete.Length));
            _incomplete.SetLength(0);
            bytes = bytes[(end + 1)..];
        }

        _incomplete.Write(bytes);
    }
}
