using System.Security.Cryptography;
using Billing.Hosting;

namespace Billing.Proxy.Security;

/// <summary>A value loaded from files that may be replaced while the process runs. The files are checked when the value
/// is read, at most once per second, and compared by content: a file behind a symbolic link may change without a change
/// of its date. If changed files cannot be used, such as a new certificate with the old key, that is logged once and
/// the last valid value kept.</summary>
internal sealed partial class ReloadedFiles<T>(
    IReadOnlyList<string> paths, Func<IReadOnlyList<byte[]>, T> make, TimeProvider time, ILogger logger)
    where T : class
{
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private IReadOnlyList<byte[]> _seen = [];
    private string? _problem;
    private long _looked;
    private volatile T? _value;

    /// <summary>The newest valid value.</summary>
    /// <exception cref="Exception">There is no value yet, and reading the files or creating
    /// the value failed.</exception>
    public T Value
    {
        get
        {
            var known = _value;
            if (known is null)
            {
                _gate.Enter();
            }
            else if (IsFresh || !_gate.TryEnter())
            {
                return known;
            }
            try
            {
                return Look();
            }
            finally
            {
                _gate.Exit();
            }
        }
    }

    /// <summary>Reads the files for the first time; <paramref name="what"/> says in an error what they are.</summary>
    /// <exception cref="StartupException">They cannot be used.</exception>
    public void Load(string what)
    {
        try
        {
            _ = Value;
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException or IOException
            or UnauthorizedAccessException or InvalidDataException)
        {
            throw new StartupException($"{what} cannot be used: {e.Message}");
        }
    }

    private bool IsFresh => time.GetElapsedTime(Interlocked.Read(ref _looked)) < LookInterval;

    private T Look()
    {
        var known = _value;
        if (known is not null && IsFresh)
        {
            return known;
        }
        Interlocked.Exchange(ref _looked, time.GetTimestamp());
        try
        {
            IReadOnlyList<byte[]> contents = [.. paths.Select(File.ReadAllBytes)];
            if (known is not null && contents.Zip(_seen).All(pair => pair.First.AsSpan().SequenceEqual(pair.Second)))
            {
                return known;
            }
            _seen = contents;
            _value = make(contents);
            _problem = null;
            if (known is not null)
            {
                Reloaded(string.Join(", ", paths));
            }
            return _value;
        }
        catch (Exception e) when (known is not null)
        {
            if (e.Message != _problem)
            {
                NotReloaded(string.Join(", ", paths), _problem = e.Message);
            }
            return known;
        }
    }

    [LoggerMessage(1, LogLevel.Information, "Reloaded {Files}: the new contents are used from now on")]
    private partial void Reloaded(string files);

    [LoggerMessage(
        2, LogLevel.Error, "{Files} changed and cannot be used; the previous contents stay in use: {Problem}")]
    private partial void NotReloaded(string files, string problem);
}
