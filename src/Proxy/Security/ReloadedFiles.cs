namespace Billing.Proxy.Security;

/// <summary>What is made of files that may be replaced while the process runs. They are looked at when the value is asked for,
/// at most once a second, and compared by content: a file behind a symbolic link may change without a date that does. What
/// cannot be used, such as a certificate whose key is still the old one, is said once and the last good value kept.</summary>
/// <typeparam name="T">What is made of them.</typeparam>
/// <param name="paths">The files.</param>
/// <param name="make">Makes the value of their contents, in the order of the files.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">Where a change, and what is wrong with one, is said.</param>
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

    /// <summary>The newest value that could be made.</summary>
    /// <exception cref="Exception">What reading the files or making the value throws, where there has been none yet.</exception>
    public T Value
    {
        get
        {
            if (_value is not { } value)
            {
                lock (_gate)
                {
                    return Look();
                }
            }
            if (time.GetElapsedTime(Interlocked.Read(ref _looked)) < LookInterval || !_gate.TryEnter())
            {
                return value;
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

    private T Look()
    {
        var known = _value;
        if (known is not null && time.GetElapsedTime(Interlocked.Read(ref _looked)) < LookInterval)
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

    [LoggerMessage(1, LogLevel.Information, "{Files} changed and is used from now on")]
    private partial void Reloaded(string files);

    [LoggerMessage(2, LogLevel.Error, "{Files} changed and cannot be used; what it held before still is: {Problem}")]
    private partial void NotReloaded(string files, string problem);
}
