using System.Text.Json;
using Billing.Chaos;
using Billing.Client;
using Billing.Contracts;
using Billing.Driver;
using Billing.Driver.Metering;
using Billing.Journals;
using Billing.Measuring.Loads;
using Billing.UnitTests.Proxy;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.UnitTests.Driver;

public sealed class LoadDriverTests : IAsyncLifetime
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
        var (result, entries) = await RunAsync(
            Burst(payments: 30, balances: 20) with { WarmUp = LoadShape.WarmUpOf(10) });

        Assert.Equal((40, 20), (result.PaymentsAnswered, result.BalancesAnswered));
        Assert.Equal(40, entries.Count(e => !e.IsBalance && e.Outcome == PaymentFate.Accepted));
        Assert.Equal(20, result.Phases[0].Balances.Ok);
        Assert.All(
            entries.Where(e => e.IsBalance),
            e => Assert.Equal((7L, 12.34m, "USD"), (e.Version, e.Balance, e.Currency)));
        Assert.Equal(20, entries.Count(e => e.IsBalance));
        Assert.All(entries, e => Assert.True(e.Span.BeganUnixUs > 0 && e.Span.EndedUnixUs >= e.Span.BeganUnixUs));
    }

    [Fact]
    public async Task The_figures_that_a_client_writes_can_be_read()
    {
        var (result, _) = await RunAsync(Burst(payments: 3));
        var written = JsonSerializer.SerializeToUtf8Bytes(result, LoadJson.Default.LoadResult);

        var read = JsonSerializer.Deserialize(written, LoadJson.Default.LoadResult)!;
        var figures = LoadFigures.Of([read], new Dictionary<string, double>());

        Assert.Equal(3, figures.All.Answered);
        Assert.Empty(figures.Phases[0].FollowUps);
    }

    [Fact]
    public async Task Every_answer_of_a_burst_is_also_timed_from_the_start_of_the_burst()
    {
        var (result, _) = await RunAsync(Burst(payments: 30, balances: 20));

        foreach (var figures in new[] { result.Phases[0].Payments, result.Phases[0].Balances })
        {
            Assert.Equal(figures.Ok, figures.SinceStart.Sum(l => l.Requests));
            Assert.True(LatencyHistogram.FiguresOf([figures.SinceStart]).MeanMs
                >= LatencyHistogram.FiguresOf([figures.Latencies]).MeanMs);
        }
    }

    [Fact]
    public async Task Failed_requests_are_not_counted_as_answered()
    {
        _backend.Answer = command =>
            Task.FromResult(new Reply { Error = new Error { StatusCode = 13, Message = "no" } });

        var (result, entries) = await RunAsync(Burst(payments: 5, balances: 5) with { WarmUp = LoadShape.WarmUpOf(5) });

        Assert.Equal((0L, 0L), (result.PaymentsAnswered, result.Phases[0].Balances.Ok));
        Assert.Equal(10, entries.Count(e => !e.IsBalance && e.Outcome == PaymentFate.Unknown));
        Assert.DoesNotContain(entries, e => e.IsBalance);
    }

    [Fact]
    public async Task A_payment_of_which_the_platform_says_that_it_charged_nothing_is_journalled_as_failed()
    {
        _backend.Answer = command => Task.FromResult(
            new Reply { Error = new Error { StatusCode = 4, Reason = ErrorReasons.CommandExpired, Message = "late" } });

        var (_, entries) = await RunAsync(Burst(payments: 3) with { RetriesMax = 0 });

        Assert.Equal(3, entries.Count(e => e.Outcome == PaymentFate.Failed));
    }

    [Fact]
    public async Task Payments_over_streams_are_answered_timed_and_in_the_journal()
    {
        var (result, entries) = await RunAsync(
            Burst(payments: 30) with { Protocol = LoadProtocol.Stream, Connections = 4 });

        Assert.Equal((30L, 30L), (result.PaymentsAnswered, result.Phases[0].Payments.SinceStart.Sum(l => l.Requests)));
        Assert.Empty(result.Phases[0].Payments.Errors);
        Assert.Equal(30, entries.DistinctBy(e => e.TransactionId).Count(e => e.Outcome == PaymentFate.Accepted));
    }

    [Fact]
    public async Task Payments_that_fail_on_a_stream_are_counted_as_errors_and_may_or_may_not_be_recorded()
    {
        _backend.Answer = command =>
            Task.FromResult(new Reply { Error = new Error { StatusCode = 13, Message = "no" } });

        var (result, entries) = await RunAsync(
            Burst(payments: 5) with { Protocol = LoadProtocol.Stream, Connections = 2 });

        Assert.Equal((0L, 5L), (result.PaymentsAnswered, Assert.Single(result.Phases[0].Payments.Errors).Value));
        Assert.Equal(5, entries.Count(e => e.Outcome == PaymentFate.Unknown));
    }

    [Fact]
    public async Task Accounts_currencies_and_payment_types_are_as_configured()
    {
        var (_, usual) = await RunAsync(
            Burst(payments: 50) with { PaymentTypes = ["VISA"], AccountPrefix = "a-", Accounts = 1 });
        var (_, all) = await RunAsync(Burst(payments: 50) with { OtherCurrencyPercent = 100 });

        Assert.All(usual, e => Assert.Equal(("USD", "visa/a-0"), (e.Currency, e.StreamId)));
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

        var (result, entries) = await RunAsync(Spec(LoadShape.Open.At(200, 5_000)), stopped.Token);

        Assert.InRange(result.PaymentsAnswered, 1, 999_999);
        Assert.Equal(result.PaymentsAnswered, entries.Count);
    }

    [Fact]
    public async Task Each_phase_of_an_open_load_has_its_own_figures()
    {
        var (result, _) = await RunAsync(
            Spec(new LoadShape.Open(new Phase("low", 0.1, 100, 100), new Phase("high", 0.1, 300, 300))));

        Assert.Equal([("low", 10L), ("high", 30L)], result.Phases.Select(p => (p.Name, p.Payments.Ok)));
        Assert.Empty(result.Phases[0].Payments.SinceStart);
    }

    [Fact]
    public async Task Each_caller_of_a_closed_load_makes_the_given_number_of_requests()
    {
        var (result, _) = await RunAsync(
            Spec(new LoadShape.Closed(3, 60) { AmountOfEach = 4 }) with { BalancePercent = 50 });

        Assert.Equal(12, result.PaymentsAnswered + result.BalancesAnswered);
    }

    [Fact]
    public async Task One_account_in_twenty_gets_a_low_limit_on_every_payment_type()
    {
        _backend.Answer = command => Task.FromResult(
            new Reply { CreditLimit = new SetCreditLimitResponse { TransactionId = command.TransactionId } });
        var options = new BillingClientOptions();
        options.Proxies.Add(_proxy.Address);
        using var client = new BillingAdminClient(options, TimeProvider.System);

        var count = await LowLimits.SetAsync(client, "a-", 41, CancellationToken.None);

        Assert.Equal(3 * PaymentTypes.All.Count, count);
        Assert.Equal(
            ["a-0 10", "a-20 20", "a-40 30"],
            _backend.Commands.Select(c => $"{c.CreditLimit.AccountId} {c.CreditLimit.Limit.Units}").Distinct()
                .Order(StringComparer.Ordinal));
    }

    private LoadSpec Burst(int payments, int balances = 0) => Spec(new LoadShape.Burst(payments, balances));

    private LoadSpec Spec(LoadShape shape) => new() { Addresses = [_proxy.Address], Shape = shape, Journal = _journal };

    private async Task<(LoadResult Result, List<JournalEntry> Entries)> RunAsync(
        LoadSpec spec, CancellationToken enough = default)
    {
        File.Delete(_journal);
        LoadResult result;
        await using (var driver = new LoadDriver(spec, TimeProvider.System))
        {
            await driver.WarmUpAsync(CancellationToken.None);
            result = await driver.RunAsync(enough);
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
