using Billing.Contracts;
using Billing.Hosting;
using Billing.Proxy.Failures;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Security.Tokens;

/// <summary>The keys that the issuer of tokens publishes. They are read again and again, so that a key which the issuer
/// removes is gone within a minute: then its <see cref="SigningKey.Removed"/> is cancelled. While they cannot be read,
/// those that are known stay, however long that takes: the log and a metric tell. Thread-safe.</summary>
internal sealed partial class SigningKeys : IReadyPart, IDisposable
{
    private readonly TimeProvider _time;
    private readonly Supervisor _supervisor;
    private readonly ILogger<SigningKeys> _logger;
    private readonly IKeySource _source;
    private readonly Lock _gate = new();
    private Task _reading = Task.CompletedTask;
    private long? _askedAt;
    private ITimer? _timer;
    private volatile string? _problem;
    private volatile Known? _known;

    public SigningKeys(
        IOptions<AuthOptions> options, TimeProvider time, Supervisor supervisor, ILogger<SigningKeys> logger)
    {
        (_time, _supervisor, _logger) = (time, supervisor, logger);
        _source = options.Value.JwksFile.Length > 0
            ? new KeyFile(options.Value)
            : new Authority(options.Value, time);
    }

    /// <summary>Why the proxy is not ready: it never had the keys.</summary>
    public string? NotReadyReason => _known is null ? "the keys that verify tokens were not read yet" : null;

    /// <summary>The issuer that tokens must have; null as long as it is not known.</summary>
    public string? Issuer => _known?.Issuer;

    /// <summary>Number of keys that are trusted.</summary>
    public int Count => _known?.Keys.Length ?? 0;

    /// <summary>For how long they have not been read; null if they never were.</summary>
    public TimeSpan? Age => _known is { } known ? _time.GetElapsedTime(known.ReadAt) : null;

    /// <summary>Begins to read them. Those of a file are there afterwards.</summary>
    /// <exception cref="StartupException">The file cannot be used.</exception>
    public void Start()
    {
        _supervisor.Watch(nameof(SigningKeys), ReadAgainAsync(TimeSpan.Zero));
        if (_source is KeyFile && (_problem ?? (Count == 0 ? "It holds no key for signatures." : null)) is { } why)
        {
            throw new StartupException($"{_source.Name} cannot be used: {why}");
        }
        _timer = _time.CreateTimer(_ => Tick(), null, _source.Interval, _source.Interval);
    }

    /// <summary>Finds the keys with which a token of this header may be signed. If there is none, they are read again
    /// first, unless that was done just before: a new key may be used as soon as it is published.</summary>
    /// <returns>The keys, none if the issuer has no such key; or UNAVAILABLE if the issuer cannot be asked.</returns>
    public async ValueTask<Outcome<SigningKey[]>> FindAsync(
        string? keyId, string algorithm, CancellationToken cancellationToken)
    {
        if (Suiting(keyId, algorithm) is { Length: > 0 } known)
        {
            return known;
        }
        await ReadAgainAsync(_source.Interval).WaitAsync(cancellationToken);
        return Suiting(keyId, algorithm) is var found && (found.Length > 0 || _problem is null) && _known is not null
            ? found
            : new Failure(
                StatusCode.Unavailable, ErrorReasons.KeysUnavailable,
                "The key that would verify the token is not known, and its issuer cannot be asked for it at present.")
            {
                RetryAfter = _source.Interval,
            };
    }

    public void Dispose()
    {
        _timer?.Dispose();
        _source.Dispose();
    }

    private SigningKey[] Suiting(string? keyId, string algorithm) =>
        [.. (_known?.Keys ?? []).Where(key => key.Suits(keyId, algorithm))];

    private void Tick()
    {
        var due = (_source.Every - 0.5) * _source.Interval;
        if (_problem is not null || Age is not { } age || age >= due)
        {
            _supervisor.Watch(nameof(SigningKeys), ReadAgainAsync(_source.Interval / 2));
        }
    }

    // One reading at a time, and none if the last one began within a time.
    private Task ReadAgainAsync(TimeSpan notWithin)
    {
        TaskCompletionSource done;
        lock (_gate)
        {
            if (!_reading.IsCompleted)
            {
                return _reading;
            }
            if (_askedAt is { } at && _time.GetElapsedTime(at) < notWithin)
            {
                return Task.CompletedTask;
            }
            _askedAt = _time.GetTimestamp();
            done = new(TaskCreationOptions.RunContinuationsAsynchronously);
            _reading = done.Task;
        }
        return ReadAsync(done);
    }

    private async Task ReadAsync(TaskCompletionSource done)
    {
        try
        {
            Use(await _source.ReadAsync());
        }
        catch (Exception e) when (IKeySource.IsFault(e))
        {
            // A file that cannot be used at the start ends the program, which says why.
            if (_problem != e.Message && (_known is not null || _source is Authority))
            {
                NotRead(_source.Name, Count, e.Message);
            }
            _problem = e.Message;
        }
        finally
        {
            done.SetResult();
        }
    }

    private void Use(PublishedKeys published)
    {
        var before = _known?.Keys ?? [];
        var known = before.ToDictionary(key => key.Identity);
        SigningKey[] keys = [.. published.Keys.DistinctBy(key => key.Identity)
            .Select(key => known.GetValueOrDefault(key.Identity, key))];
        _known = new Known(published.Issuer, keys, _time.GetTimestamp());
        foreach (var removed in before.Except(keys))
        {
            removed.Dispose();
            LogRemoved(removed.Name, _source.Name);
        }
        foreach (var added in keys.Except(before))
        {
            LogAdded(added.Name, _source.Name);
        }
        if (_problem is not null)
        {
            _problem = null;
            ReadAgain(_source.Name);
        }
    }

    [LoggerMessage(1, LogLevel.Information, "Tokens that the key {Key} has signed are accepted: {Source} has it")]
    private partial void LogAdded(string key, string source);

    [LoggerMessage(
        2, LogLevel.Warning,
        "Tokens that the key {Key} has signed are refused, and their streams end: {Source} does not have it any more")]
    private partial void LogRemoved(string key, string source);

    [LoggerMessage(
        3, LogLevel.Error, "{Source} cannot be used; the {Keys} keys that are known stay trusted meanwhile: {Problem}")]
    private partial void NotRead(string source, int keys, string problem);

    [LoggerMessage(4, LogLevel.Information, "{Source} is read again")]
    private partial void ReadAgain(string source);

    private sealed record Known(string Issuer, SigningKey[] Keys, long ReadAt);
}
