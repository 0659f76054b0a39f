using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Tries many hostile inputs on one reader: former findings first, then changed inputs of a corpus. An input
/// whose outcome is of a kind that was not seen before joins the corpus, so later ones go further from there. A few
/// hundred to thousand inputs are tried, or for as many minutes as BILLING_FUZZ_MINUTES says; which ones follows from a
/// seed, that of the day or BILLING_FUZZ_SEED.</summary>
/// <param name="name">What reads the inputs, as in findings.txt.</param>
/// <param name="corpus">Valid inputs.</param>
/// <param name="words">What means something to the reader.</param>
/// <param name="tries">How many inputs to try when no time is given.</param>
internal sealed class Fuzz(string name, IReadOnlyList<byte[]> corpus, IReadOnlyList<string> words, int tries)
{
    private const int KindsMax = 2_000;

    // Only a failing input waits so long: one that is never answered.
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);
    private const string Findings = "tests/Billing.UnitTests/Fuzzing/findings.txt";

    private static readonly int Seed = int.Parse(
        Environment.GetEnvironmentVariable("BILLING_FUZZ_SEED")
            ?? DateOnly.FromDateTime(TimeProvider.System.GetUtcNow().UtcDateTime).DayNumber
                .ToString(CultureInfo.InvariantCulture),
        CultureInfo.InvariantCulture);

    /// <summary>How long each fuzzer runs; null if only as many inputs as fit a test.</summary>
    public static TimeSpan? Time { get; } = Environment.GetEnvironmentVariable(
        "BILLING_FUZZ_MINUTES") is { Length: > 0 } minutes
        ? TimeSpan.FromMinutes(double.Parse(minutes, CultureInfo.InvariantCulture))
        : null;

    private readonly List<byte[]> _corpus = [.. corpus];
    private readonly Mutations _mutations = new(new Random(Seed), [.. words.Select(Encoding.Latin1.GetBytes)]);
    private readonly Queue<byte[]> _first = new([.. Found(name), .. corpus]);
    private readonly HashSet<string> _kinds = new(StringComparer.Ordinal);
    private readonly Stopwatch _clock = Stopwatch.StartNew();
    private byte[] _before = [];
    private long _tried;

    /// <summary>A seeded source of what a fuzzer decides besides its inputs.</summary>
    public static Random NewRandom() => new(Seed);

    /// <summary>Tries the inputs on code that answers at once. The property returns which kind
    /// of outcome it was.</summary>
    public void Run(Func<byte[], string> property)
    {
        while (Next() is { } input)
        {
            try
            {
                Note(input, property(input));
            }
            catch (Exception e) when (e is not OperationCanceledException)
            {
                throw Finding(input, e);
            }
        }
        Report();
    }

    /// <summary>Tries the inputs on code that answers later.</summary>
    public async Task RunAsync(Func<byte[], Task<string>> property)
    {
        while (Next() is { } input)
        {
            try
            {
                Note(input, await property(input).WaitAsync(Patience, TestContext.Current.CancellationToken));
            }
            catch (Exception e) when (e is not OperationCanceledException)
            {
                throw Finding(input, e);
            }
        }
        Report();
    }

    private byte[]? Next()
    {
        TestContext.Current.CancellationToken.ThrowIfCancellationRequested();
        if (Time is { } time ? _clock.Elapsed >= time : _tried >= tries)
        {
            return null;
        }
        _tried++;
        return _first.TryDequeue(out var first) ? first : _mutations.Of(_corpus);
    }

    private void Note(byte[] input, string kind)
    {
        _before = input;
        if (_kinds.Count < KindsMax && _kinds.Add(kind))
        {
            _corpus.Add(input);
        }
    }

    private void Report()
    {
        // A reader that treats all inputs alike was not reached.
        Assert.InRange(_kinds.Count, 2, int.MaxValue);
        // ./billing test prints this line.
        TestContext.Current.TestOutputHelper!.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"Fuzzed {_tried:N0} inputs of {name} in {_clock.Elapsed.TotalSeconds:0} s, with {_kinds.Count} kinds of "
                + $"outcome, from the seed {Seed}."));
    }

    // What an input does to a server may be logged only after its connection has ended, when the next one is tried.
    private InvalidOperationException Finding(byte[] input, Exception e) => new(
        $"Input {_tried:N0} of {name}, from the seed {Seed}. To try it and the one before it again, "
            + $"add these lines to {Findings}:\n{name} {Convert.ToBase64String(_before)}\n{name} "
            + $"{Convert.ToBase64String(input)}\n{e.Message}", e);

    private static IEnumerable<byte[]> Found(string name) =>
        from line in Repository.Lines(Findings)
        where line.StartsWith(name + ' ', StringComparison.Ordinal)
        select Convert.FromBase64String(line[(name.Length + 1)..]);
}
