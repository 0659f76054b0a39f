using Billing.Auditing.Journals;
using Billing.Chaos;
using Billing.Client;
using Billing.Contracts;
using Billing.LoadClient;
using Billing.UnitTests.Proxy;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.LoadClient;

public sealed class LoadGeneratorTests : IAsyncLifetime
{
    private readonly string _journal = Path.Combine(Path.GetTempPath(), $"billing-journal-{Guid.NewGuid():N}.csv");
    private readonly FakeBackend _backend = new() { Answer = command => Task.FromResult(Answered(command)) };
    private ProxyHost _proxy = null!;

    public async ValueTask InitializeAsync() => _proxy = await ProxyHost.StartAsync(_backend);

    public async ValueTask DisposeAsync()
    {
        await _proxy.DisposeAsync();
        File.Delete(_journal);
    }

    [Fact]
    public async Task Every_answer_is_in_the_journal_and_balances_have_the_answered_values()
    {
        var (result, entries) = await RunAsync(new LoadOptions { Proxies = [_proxy.Address], Requests = 30, Balances = 20, WarmUp = 10, Journal = _journal });

        Assert.Equal(40, result.PaymentsAnswered);
        Assert.Equal(40, entries.Count(e => !e.IsBalance && e.Outcome == PaymentOutcome.Accepted));
        Assert.Equal(20, result.Balances.Ok);
        Assert.All(entries.Where(e => e.IsBalance), e => Assert.Equal((7L, 12.34m, "USD"), (e.Version, e.Balance, e.Currency)));
        Assert.Equal(20, entries.Count(e => e.IsBalance));
        Assert.All(entries, e => Assert.True(e.Span.BeganUnixUs > 0 && e.Span.EndedUnixUs >= e.Span.BeganUnixUs));
    }

    [Fact]
    public async Task A_failure_that_says_that_nothing_was_charged_is_journalled_as_final()
    {
        _backend.Answer = command => Task.FromResult(
            new Reply { Error = new Error { StatusCode = (int)StatusCode.DeadlineExceeded, Reason = ErrorReasons.CommandExpired } });

        var (_, entries) = await RunAsync(new LoadOptions { Proxies = [_proxy.Address], Requests = 5, Journal = _journal });

        Assert.Equal(5, entries.Count(e => e.Outcome == PaymentOutcome.Failed && e.Span.EndedUnixUs > 0));
    }

    [Fact]
    public async Task Every_answer_of_a_burst_is_also_timed_from_the_start_of_the_burst()
    {
        var (result, _) = await RunAsync(new LoadOptions { Proxies = [_proxy.Address], Requests = 30, Balances = 20, Journal = _journal });

        foreach (var figures in new[] { result.Payments, result.Balances })
        {
            Assert.Equal(figures.LatenciesUs.Count, figures.SinceStartUs.Count);
            Assert.All(figures.SinceStartUs.Zip(figures.LatenciesUs), times => Assert.True(times.First >= times.Second));
        }
    }

    [Fact]
    public async Task Failed_requests_are_not_counted_as_answered()
    {
        _backend.Answer = command => Task.FromResult(new Reply { Error = new Error { StatusCode = 13, Message = "no" } });

        var (result, entries) = await RunAsync(new LoadOptions { Proxies = [_proxy.Address], Requests = 5, Balances = 5, WarmUp = 5, Journal = _journal });

        Assert.Equal((0L, 0), (result.PaymentsAnswered, result.Balances.Ok));
        Assert.Equal(10, entries.Count(e => !e.IsBalance && e.Outcome == PaymentOutcome.Unspecified));
        Assert.DoesNotContain(entries, e => e.IsBalance);
    }

    [Fact]
    public async Task Payments_over_streams_are_answered_timed_and_in_the_journal()
    {
        var (result, entries) = await RunAsync(new LoadOptions { Proxies = [_proxy.Address], Requests = 30, Streams = 4, Journal = _journal });

        Assert.Equal((30L, 30, 0), (result.PaymentsAnswered, result.Payments.SinceStartUs.Count, result.Payments.Errors.Count));
        Assert.Equal(30, entries.DistinctBy(e => e.TransactionId).Count(e => e.Outcome == PaymentOutcome.Accepted));
    }

    [Fact]
    public async Task Payments_that_fail_on_a_stream_are_counted_as_errors_and_may_or_may_not_be_recorded()
    {
        _backend.Answer = command => Task.FromResult(new Reply { Error = new Error { StatusCode = 13, Message = "no" } });

        var (result, entries) = await RunAsync(new LoadOptions { Proxies = [_proxy.Address], Requests = 5, Streams = 2, Journal = _journal });

        Assert.Equal((0L, 5), (result.PaymentsAnswered, Assert.Single(result.Payments.Errors).Value));
        Assert.Equal(5, entries.Count(e => e.Outcome == PaymentOutcome.Unspecified));
    }

    [Fact]
    public async Task The_share_of_payments_in_another_currency_is_as_configured()
    {
        var (_, none) = await RunAsync(new LoadOptions { Proxies = [_proxy.Address], Requests = 50, Journal = _journal });
        var (_, all) = await RunAsync(new LoadOptions { Proxies = [_proxy.Address], Requests = 50, Journal = _journal, OtherCurrencyPercent = 100 });

        Assert.All(none, e => Assert.Equal("USD", e.Currency));
        Assert.Equal(50, all.Count(e => e.Currency == "EUR"));
    }

    [Fact]
    public async Task Payments_at_a_rate_can_be_stopped_and_all_sent_payments_are_answered()
    {
        using var stopped = new CancellationTokenSource();
        _backend.Answer = command =>
        {
            stopped.Cancel();
            return Task.FromResult(Answered(command));
        };

        var (result, entries) = await RunAsync(new LoadOptions { Proxies = [_proxy.Address], Requests = 1_000_000, Rate = 200, Journal = _journal }, stopped.Token);

        Assert.InRange(result.PaymentsAnswered, 1, 999_999);
        Assert.Equal(result.PaymentsAnswered, entries.Count);
    }

    [Fact]
    public async Task The_number_of_payments_at_a_rate_is_as_configured()
    {
        var (result, _) = await RunAsync(new LoadOptions { Proxies = [_proxy.Address], Requests = 30, Rate = 1000, Journal = _journal });

        Assert.Equal(30, result.PaymentsAnswered);
        Assert.Empty(result.Payments.SinceStartUs);
    }

    [Fact]
    public async Task One_account_in_twenty_gets_a_low_limit_on_every_payment_type()
    {
        _backend.Answer = command => Task.FromResult(new Reply { CreditLimit = new SetCreditLimitResponse { TransactionId = command.TransactionId } });
        var options = new BillingClientOptions();
        options.Proxies.Add(_proxy.Address);
        using var client = new BillingClient(options, TimeProvider.System);

        var count = await LowLimits.SetAsync(client, "a-", 41, CancellationToken.None);

        Assert.Equal(3 * PaymentTypes.All.Count, count);
        Assert.Equal(
            ["a-0 10", "a-20 20", "a-40 30"],
            _backend.Commands.Select(c => $"{c.CreditLimit.AccountId} {c.CreditLimit.Limit.Units}").Distinct().Order(StringComparer.Ordinal));
    }

    private async Task<(LoadResult Result, List<JournalEntry> Entries)> RunAsync(
        LoadOptions options, CancellationToken stopped = default)
    {
        LoadResult result;
        await using (var generator = new LoadGenerator(options, TimeProvider.System))
        {
            await generator.WarmUpAsync(CancellationToken.None);
            result = await generator.RunAsync(stopped, CancellationToken.None);
        }
        return (result, [.. JournalReader.Read(_journal)]);
    }

    private static Reply Answered(Command command) => command.RequestCase == Command.RequestOneofCase.Balance
        ? new Reply { Balance = new CheckBalanceResponse { Balance = 12.34m.ToMoney("USD"), Version = 7 } }
        : new Reply
        {
            Payment = new MakePaymentResponse
            {
                TransactionId = command.TransactionId,
                Outcome = PaymentOutcome.Accepted,
                Version = 1,
                Balance = command.Payment.Amount,
            },
        };
}
