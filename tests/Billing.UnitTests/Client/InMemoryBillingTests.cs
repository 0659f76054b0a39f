using Billing.Client;
using Billing.Client.Testing;

namespace Billing.UnitTests.Client;

public sealed class InMemoryBillingTests : BillingFacts, IDisposable
{
    private static readonly Payment Five = new(new CardAccount(CardNetwork.Visa, "a"), new Amount(5, "USD"));

    private readonly InMemoryBilling _billing = new();

    public void Dispose() => _billing.Dispose();

    protected override BillingClient Billing => _billing;

    protected override BillingAdminClient Admin => _billing.Admin;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_retry_after_a_lost_answer_charges_once(bool recorded)
    {
        _billing.LoseNextAnswer(recorded);

        Expect.Unknown(await _billing.PayAsync(Five));
        Assert.Equal(recorded ? 5 : 0, (await _billing.GetBalanceAsync(Five.Account)).Balance.Value);
        Expect.Accepted(await _billing.PayAsync(Five));
        Assert.Equal(5, (await _billing.GetBalanceAsync(Five.Account)).Balance.Value);
    }

    [Fact]
    public async Task A_limit_whose_answer_is_lost_is_unknown_too()
    {
        _billing.LoseNextAnswer(recorded: true);
        var limit = new CreditLimitChange(Five.Account, new Amount(1, "USD"));

        Expect.Unknown(await _billing.Admin.SetCreditLimitAsync(limit));
        Assert.Equal(1, Expect.Accepted(await _billing.Admin.SetCreditLimitAsync(limit)).Version);
    }

    [Fact]
    public async Task Requests_for_a_hold_whose_answers_are_lost_are_unknown_too()
    {
        var hold = new Hold(Five.Account, Five.Amount);
        _billing.LoseNextAnswer(recorded: true);
        Expect.Unknown(await _billing.AuthoriseAsync(hold));
        Assert.Equal(1, Expect.Accepted(await _billing.AuthoriseAsync(hold)).Version);

        _billing.LoseNextAnswer(recorded: false);
        var capture = new Capture(Five.Account, hold.Id, new Amount(1, "USD"));
        Expect.Unknown(await _billing.CaptureAsync(capture));
        Assert.Equal(2, Expect.Accepted(await _billing.CaptureAsync(capture)).Version);

        _billing.LoseNextAnswer(recorded: true);
        var release = new HoldVoid(Five.Account, hold.Id);
        Expect.Unknown(await _billing.VoidAsync(release));
        Assert.Equal(3, Expect.Accepted(await _billing.VoidAsync(release)).Version);
    }

    [Fact]
    public async Task A_hold_expires_at_its_time_and_what_is_left_of_it_is_released()
    {
        var time = new ManualTime();
        var billing = new InMemoryBilling(time: time);
        var hold = new Hold(Five.Account, new Amount(10, "USD"), TimeSpan.FromSeconds(60));
        var authorised = Expect.Accepted(await billing.AuthoriseAsync(hold));
        time.Advance(TimeSpan.FromSeconds(59));
        Expect.Accepted(await billing.CaptureAsync(new Capture(Five.Account, hold.Id, new Amount(4, "USD"))));

        time.Advance(TimeSpan.FromSeconds(1));
        var tooLate = Expect.Rejected(
            await billing.CaptureAsync(new Capture(Five.Account, hold.Id, new Amount(1, "USD"))));
        var balance = await billing.GetBalanceAsync(Five.Account);
        var found = await billing.FindTransactionAsync(Five.Account, hold.Id);
        var line = await billing.ReadStatementAsync(Five.Account, 2).SingleAsync();

        Assert.Equal((RejectionReason.NotOnHold, "payment_id"), (tooLate.Reason, tooLate.Field));
        Assert.Equal(
            (4m, 0m, 9_996m, 3L),
            (balance.Balance.Value, balance.OnHold.Value, balance.Available.Value, balance.Version));
        Assert.Equal(
            (4m, 0m, authorised.ExpiresAt),
            (found!.Payment!.Charged.Value, found.Payment.Held.Value, found.Payment.ExpiresAt));
        Assert.Equal(
            (StatementLineType.AuthorisationExpired, hold.Id, 6m, authorised.ExpiresAt),
            (line.Type, line.PaymentId, line.Amount.Value, line.DecidedAt));
        Assert.Equal(authorised with { IsReplay = true }, Expect.Accepted(await billing.AuthoriseAsync(hold)));
    }

    [Fact]
    public async Task Holds_expire_in_the_order_of_their_times_before_the_next_request_is_decided()
    {
        var time = new ManualTime();
        var billing = new InMemoryBilling(time: time);
        var longer = new Hold(Five.Account, new Amount(6_000, "USD"), TimeSpan.FromSeconds(20));
        var shorter = new Hold(Five.Account, new Amount(4_000, "USD"), TimeSpan.FromSeconds(10));
        var declined = new Hold(Five.Account, new Amount(0.01m, "USD"), TimeSpan.FromSeconds(5));
        await billing.AuthoriseAsync(longer);
        await billing.AuthoriseAsync(shorter);
        Expect.Declined(await billing.AuthoriseAsync(declined));

        time.Advance(TimeSpan.FromSeconds(20));
        Expect.Accepted(await billing.PayAsync(new Payment(Five.Account, new Amount(10_000, "USD"))));
        var lines = await billing.ReadStatementAsync(Five.Account, 3).ToListAsync();

        Assert.Equal(
            [
                (StatementLineType.AuthorisationExpired, shorter.Id, 6_000m),
                (StatementLineType.AuthorisationExpired, longer.Id, 0m), (StatementLineType.PaymentAccepted, null, 0m),
            ],
            lines.Select(line => (line.Type, line.PaymentId, line.OnHold.Value)));
    }

    [Fact]
    public async Task Accounts_may_start_with_another_limit()
    {
        Expect.Declined(await new InMemoryBilling(creditLimit: 4.99m).PayAsync(Five));
        Assert.Throws<ArgumentOutOfRangeException>(() => new InMemoryBilling(creditLimit: -1));
    }
}
