using Billing.Contracts;
using Billing.Driver;
using Billing.Journals;
using Billing.V1;

namespace Billing.IntegrationTests.Services;

/// <summary>Two accounts recorded by a real run, with the answers to their callers: a long account and a
/// short one, whose fifth payment is declined. Tests insert faults only into a copy.</summary>
public sealed class RecordedAccounts(EmbeddedStack stack) : IAsyncLifetime
{
    public const int LongCount = 101;
    public const int ShortCount = 5;

    private readonly string _long = StackFixture.NewAccount();
    private readonly string _short = StackFixture.NewAccount();
    private readonly List<JournalEntry> _answers = [];
    private readonly CallClock _clock = new(TimeProvider.System);

    /// <summary>The stream of the long account.</summary>
    public string LongStream => StreamOf(_long);

    /// <summary>The stream of the short account.</summary>
    public string ShortStream => StreamOf(_short);

    /// <summary>The answers to the callers, the short account's payments first and in order.</summary>
    public IReadOnlyList<JournalEntry> Answers => _answers;

    public async ValueTask InitializeAsync()
    {
        for (var n = 1; n <= ShortCount; n++)
        {
            _answers.Add(await PayAsync(_short, n < ShortCount ? n : 20_000));
        }
        _answers.AddRange(await Task.WhenAll(Enumerable.Range(0, LongCount).Select(_ => PayAsync(_long, 0.25m))));
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private static string StreamOf(string account) => StreamId.For(PaymentType.Visa, account);

    private async Task<JournalEntry> PayAsync(string account, decimal amount)
    {
        var request = StackFixture.Payment(account, amount);
        var began = _clock.Now;
        var answer = await stack.Proxy().MakePaymentAsync(request);
        return JournalEntry.Of(request, answer, _clock.Since(began));
    }
}
