using Billing.Client;

namespace Billing.Testing;

public abstract partial class BillingFacts
{
    [Fact]
    public async Task The_balance_is_read_as_it_was_after_each_event_and_before_all_of_them()
    {
        var account = NewAccount();
        await FillAsync(account);

        var past = new List<PastBalance>();
        for (var version = 0; version <= 6; version++)
        {
            past.Add(await Billing.GetBalanceAtAsync(account, version, cancellationToken: Token));
        }

        Assert.Equal(
            [
                (0, 0m, 0m, 0m, 0m), (1, 15m, 0m, 9_985m, 10_000m), (2, 15m, 0m, 5m, 20m),
                (3, 15m, 0m, 5m, 20m), (4, 15m, 4m, 1m, 20m), (5, 18m, 0m, 2m, 20m), (6, 8m, 0m, 12m, 20m),
            ],
            past.Select(p => (p.Version, p.Balance.Value, p.OnHold.Value, p.Available.Value, p.CreditLimit.Value)));
        Assert.Equal(
            [null, .. (await LinesAsync(account)).Select(line => (DateTimeOffset?)line.DecidedAt)],
            past.Select(p => p.DecidedAt));
        Assert.Equal(["", "USD"], past.Take(2).Select(p => p.Balance.Currency));
    }

    [Fact]
    public async Task The_balance_as_of_a_time_is_that_after_the_last_event_until_then()
    {
        var account = NewAccount();
        await FillAsync(account);
        var lines = await LinesAsync(account);

        foreach (var time in lines.SelectMany(
            line => (DateTimeOffset[])[line.DecidedAt.AddTicks(-1), line.DecidedAt, line.DecidedAt.AddTicks(1)])
            .Append(DateTimeOffset.MinValue).Append(DateTimeOffset.MaxValue))
        {
            var found = await Billing.GetBalanceAtAsync(account, time, cancellationToken: Token);

            var version = lines.LastOrDefault(line => line.DecidedAt <= time)?.Version ?? 0;
            Assert.Equal(await Billing.GetBalanceAtAsync(account, version, cancellationToken: Token), found);
        }
    }

    [Fact]
    public async Task A_version_that_an_account_has_not_reached_has_no_balance_and_the_field_is_named()
    {
        var account = NewAccount();
        await AcceptedAsync(new Payment(account, new Amount(1, "USD")));

        var ahead = await Assert.ThrowsAsync<BillingException>(
            () => Billing.GetBalanceAtAsync(account, 2, cancellationToken: Token));
        var none = await Assert.ThrowsAsync<BillingException>(
            () => Billing.GetBalanceAtAsync(NewAccount(), 1, cancellationToken: Token));
        var opening = await Billing.GetBalanceAtAsync(
            NewAccount(), TimeProvider.System.GetUtcNow(), cancellationToken: Token);

        Assert.Equal(
            (RejectionReason.VersionNotReached, "version", "version is 2; the account is at version 1."),
            (ahead.RejectionReason, ahead.Field, ahead.Message));
        Assert.Equal(
            (RejectionReason.VersionNotReached, "version is 1; the account is at version 0."),
            (none.RejectionReason, none.Message));
        Assert.Equal((0L, 0m, null), (opening.Version, opening.Balance.Value, opening.DecidedAt));
    }

    [Fact]
    public async Task A_statement_has_only_the_types_and_the_range_of_time_that_are_asked_for()
    {
        var account = NewAccount();
        await FillAsync(account);
        var lines = await LinesAsync(account);

        foreach (var (from, before) in ((DateTimeOffset?, DateTimeOffset?)[])
            [
                (null, null), (lines[1].DecidedAt, null), (null, lines[4].DecidedAt),
                (lines[1].DecidedAt, lines[4].DecidedAt), (lines[5].DecidedAt.AddTicks(1), null),
            ])
        {
            foreach (var types in (StatementLineType[][])
            [
                [], [StatementLineType.PaymentAccepted],
                [StatementLineType.PaymentRefunded, StatementLineType.CreditLimitChanged],
            ])
            {
                var filter = new StatementFilter(from, before) { Types = types };

                Assert.Equal(
                    lines.Where(line => (from is null || line.DecidedAt >= from)
                        && (before is null || line.DecidedAt < before)
                        && (types.Length == 0 || types.Contains(line.Type))),
                    await Billing.ReadStatementAsync(account, filter, Token).ToListAsync(Token));
            }
        }
    }

    [Fact]
    public async Task Pages_of_a_statement_follow_one_another_by_their_tokens()
    {
        var account = NewAccount();
        await FillAsync(account);
        var filter = new StatementFilter
        {
            Types =
            [
                StatementLineType.PaymentAccepted, StatementLineType.PaymentDeclined, StatementLineType.PaymentRefunded,
            ],
        };

        var first = await Billing.GetStatementPageAsync(account, filter, 2, cancellationToken: Token);
        var second = await Billing.GetStatementPageAsync(
            account, filter, 1000, first.NextPageToken, cancellationToken: Token);
        var all = await Billing.GetStatementPageAsync(account, cancellationToken: Token);
        var pages = new List<StatementLine>();
        for (var page = await Billing.GetStatementPageAsync(account, null, 1, cancellationToken: Token); ; page =
            await Billing.GetStatementPageAsync(account, null, 1, page.NextPageToken, cancellationToken: Token))
        {
            pages.Add(Assert.Single(page.Lines));
            if (page.NextPageToken is null)
            {
                break;
            }
        }

        Assert.Equal([1L, 3], first.Lines.Select(line => line.Version));
        Assert.Equal([6L], second.Lines.Select(line => line.Version));
        Assert.Null(second.NextPageToken);
        Assert.Null(all.NextPageToken);
        Assert.Equal(await LinesAsync(account), all.Lines);
        Assert.Equal(all.Lines, pages);
        Assert.Equal(
            new StatementPage([], null).Lines,
            (await Billing.GetStatementPageAsync(NewAccount(), filter, cancellationToken: Token)).Lines);
    }

    [Fact]
    public async Task A_token_of_another_account_or_filter_is_refused_and_names_its_field()
    {
        var account = NewAccount();
        await FillAsync(account);
        var filter =
            new StatementFilter { Types = [StatementLineType.PaymentAccepted, StatementLineType.PaymentDeclined] };
        var token = (await Billing.GetStatementPageAsync(account, filter, 1, cancellationToken: Token)).NextPageToken;
        Assert.NotNull(token);

        foreach (var (asked, other) in ((CardAccount, StatementFilter)[])
            [
                (NewAccount(), filter), (new CardAccount(CardNetwork.Visa, account.Id), filter),
                (account, new StatementFilter()), (account, filter with { From = DateTimeOffset.UnixEpoch }),
            ])
        {
            var refused = await Assert.ThrowsAsync<BillingException>(
                () => Billing.GetStatementPageAsync(asked, other, 1, token, cancellationToken: Token));
            Assert.Equal((RejectionReason.InvalidField, "page_token"), (refused.RejectionReason, refused.Field));
        }
        var altered = await Assert.ThrowsAsync<BillingException>(
            () => Billing.GetStatementPageAsync(account, filter, 1, "x" + token, cancellationToken: Token));
        Assert.Equal("page_token", altered.Field);
        var reversed = await Assert.ThrowsAsync<BillingException>(() => Billing.GetStatementPageAsync(
            account, new StatementFilter(DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch),
            cancellationToken: Token));
        Assert.Equal((RejectionReason.InvalidField, "end_time"), (reversed.RejectionReason, reversed.Field));
    }

    // Versions 1 to 6: a payment of 15, a limit of 20, a payment that is declined, a hold of 4 of which 3 are charged,
    // and 10 given back.
    private async Task FillAsync(CardAccount account)
    {
        var payment = new Payment(account, Dollars(15));
        var hold = new Hold(account, Dollars(4), TimeSpan.FromDays(1));
        await AcceptedAsync(payment);
        await AcceptedAsync(new CreditLimitChange(account, Dollars(20)));
        await DeclinedAsync(new Payment(account, Dollars(10)));
        await AcceptedAsync(hold);
        await AcceptedAsync(new Capture(account, hold.Id, Dollars(3), isFinal: true));
        await AcceptedAsync(new Refund(account, payment.Id, Dollars(10)));
    }
}
