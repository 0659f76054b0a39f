using System.Text;

namespace Billing.LocalStack.Processes;

/// <summary>Reads the lines of a log that another process is writing.</summary>
/// <param name="path">The log. It is created if it is missing: the program's shell may not have created it yet.</param>
/// <param name="start">Where to begin, in bytes.</param>
public sealed class LogReader(string path, long start = 0) : IDisposable
{
    private readonly StreamReader _reader = new(
        new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.ReadWrite
            | FileShare.Delete)
        { Position = start });

    private readonly StringBuilder _line = new();

    /// <summary>Returns the next complete line, or null if there is none yet.</summary>
    public string? ReadLine()
    {
        for (var next = _reader.Read(); next >= 0; next = _reader.Read())
        {
            if (next == '\n')
            {
                var line = _line.ToString();
                _line.Clear();
                return line;
            }
            _line.Append((char)next);
        }
        return null;
    }

    /// <inheritdoc/>
    public void Dispose() => _reader.Dispose();
}
