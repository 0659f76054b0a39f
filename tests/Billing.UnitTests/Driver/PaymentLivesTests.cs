using System.Collections.Concurrent;
using Billing.Contracts;
using Billing.Driver;
using Billing.Driver.Lives;
using Billing.Journals;
using Billing.UnitTests.Proxy;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.UnitTests.Driver;

public sealed class PaymentLivesTests : IAsyncLifetime
{
    private const long Version = 7;

    private readonly string _journal = Path.Combine(Path.GetTempPath(), $"billing-journal-{Guid.NewGuid():N}.csv");
    private readonly FakeBackend _backend = new();
    private readonly ConcurrentDictionary<string, (decimal Charged, decimal Refunded)> _payments = new();
    private ProxyHost _proxy = null!;

    public async ValueTask InitializeAsync()
    {
        _backend.Answer = command => Task.FromResult(Answered(command));
        _proxy = await ProxyHost.StartAsync(_backend);
    }

    public async ValueTask DisposeAsync()
    {
        await _proxy.DisposeAsync();
        File.Delete(_journal);
    }

    [Fact]
    public async Task Each_life_begins_with_a_payment_or_an_authorisation_and_is_looked_up_at_the_end()
    {
        var phase = (await RunAsync(percent: 100)).Result.Phases[0];

        Assert.Equal(FollowUps.All, phase.FollowUps.Keys);
        Assert.InRange(phase.Payments.Ok, 1, 99);
        Assert.Equal(100, phase.Payments.Ok + phase.FollowUps[FollowUps.Authorisations].Ok);
        Assert.Equal(100, phase.FollowUps[FollowUps.LookUps].Ok);
        Assert.All(phase.FollowUps.Values, kind => Assert.Empty(kind.Errors));
    }

    [Fact]
    public async Task Only_the_given_percentage_of_payments_has_a_life()
    {
        Assert.Empty((await RunAsync(percent: 0)).Result.Phases[0].FollowUps);

        var phase = (await RunAsync(percent: 20)).Result.Phases[0];

        Assert.Equal(100, phase.Payments.Ok + phase.FollowUps[FollowUps.Authorisations].Ok);
        Assert.InRange(phase.FollowUps[FollowUps.LookUps].Ok, 1, 60);
    }

    [Fact]
    public async Task Payments_are_journalled_and_of_all_other_answers_the_balances()
    {
        var (result, entries) = await RunAsync(percent: 100);

        Assert.Equal(result.PaymentsAnswered, entries.Count(e => !e.IsBalance));
        Assert.Equal(result.BalancesAnswered, entries.Count(e => e.IsBalance));
        var asked = _backend.Commands.Where(c =>
            c.RequestCase is not (Command.RequestOneofCase.Payment or Command.RequestOneofCase.Lookup)).ToList();
        Assert.Equal(
            asked.Select(StreamOf).Order(StringComparer.Ordinal),
            entries.Where(e => e.IsBalance).Select(e => e.StreamId).Order(StringComparer.Ordinal));
        Assert.All(
            entries.Where(e => e.IsBalance),
            e => Assert.Equal((Version, 12.34m, "USD"), (e.Version, e.Balance, e.Currency)));
    }

    [Fact]
    public async Task A_request_for_more_than_there_is_counts_as_declined_and_has_no_balance()
    {
        _backend.Answer = command => Task.FromResult(command.RequestCase is Command.RequestOneofCase.Capture
            or Command.RequestOneofCase.Void or Command.RequestOneofCase.Refund
            ? new Reply
            {
                Error = new Error
                {
                    StatusCode = 9,
                    Reason = command.RequestCase == Command.RequestOneofCase.Refund
                        ? ErrorReasons.AmountTooLarge
                        : ErrorReasons.NotOnHold,
                    Message = "no",
                },
            }
            : Answered(command));

        var (result, entries) = await RunAsync(percent: 100);

        var kinds = result.Phases[0].FollowUps;
        Assert.All(
            [FollowUps.Captures, FollowUps.Voids, FollowUps.Refunds],
            kind => Assert.True(kinds[kind] is { Ok: 0, Declined: > 0, Errors.Count: 0 }, kind));
        Assert.Equal(kinds[FollowUps.Authorisations].Ok, entries.Count(e => e.IsBalance));
        Assert.Empty(kinds[FollowUps.LookUps].Errors);
    }

    [Fact]
    public async Task A_payment_that_does_not_show_the_sum_of_the_answers_is_an_error()
    {
        _backend.Answer = command =>
        {
            var reply = Answered(command);
            if (command.RequestCase == Command.RequestOneofCase.Lookup)
            {
                reply.Lookup.Payment.Charged = 0.01m.ToMoney("USD");
            }
            return Task.FromResult(reply);
        };

        var lookUps = (await RunAsync(percent: 100)).Result.Phases[0].FollowUps[FollowUps.LookUps];

        Assert.Equal((0, 100), (lookUps.Ok, lookUps.Errors.Values.Sum()));
        Assert.All(lookUps.Errors.Keys, error => Assert.Contains("captured and", error, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Notes_of_a_payment_go_with_all_that_is_done_with_it_and_must_be_found_at_the_end()
    {
        var looked = (await RunAsync(percent: 100, notesPercent: 50)).Result.Phases[0].FollowUps[FollowUps.LookUps];

        var notes = _backend.Commands.Select(c => c.Authorise).OfType<AuthorisePaymentRequest>()
            .ToDictionary(request => request.TransactionId, request => request.Notes);
        Assert.InRange(notes.Values.Count(n => n is not null), 1, notes.Count - 1);
        Assert.All(
            _backend.Commands.Select(c => c.Capture).OfType<CapturePaymentRequest>(),
            capture => Assert.Equal(notes[capture.PaymentId], capture.Notes));
        // The backend of this test keeps none.
        Assert.InRange(looked.Ok, 1, 99);
        Assert.Equal(100, looked.Ok + looked.Errors.Values.Sum());
        Assert.All(looked.Errors.Keys, error => Assert.Contains("sent with", error, StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_life_ends_with_the_first_request_that_has_no_answer()
    {
        _backend.Answer = command => Task.FromResult(
            command.RequestCase is Command.RequestOneofCase.Authorise or Command.RequestOneofCase.Payment
                ? new Reply { Error = new Error { StatusCode = 13, Message = "no" } }
                : Answered(command));

        var phase = (await RunAsync(percent: 100)).Result.Phases[0];

        Assert.Equal([FollowUps.Authorisations], phase.FollowUps.Keys);
        Assert.Equal(
            100, phase.Payments.Errors.Values.Sum() + phase.FollowUps[FollowUps.Authorisations].Errors.Values.Sum());
    }

    private async Task<(LoadResult Result, List<JournalEntry> Entries)> RunAsync(int percent, int notesPercent = 0)
    {
        File.Delete(_journal);
        var spec = new LoadSpec
        {
            Addresses = [_proxy.Address],
            Shape = new LoadShape.Burst(100),
            Journal = _journal,
            LifePercent = percent,
            NotesPercent = notesPercent,
        };
        LoadResult result;
        await using (var driver = new LoadDriver(spec, TimeProvider.System))
        {
            result = await driver.RunAsync(CancellationToken.None);
        }
        return (result, [.. JournalReader.Read(_journal)]);
    }

    private static string StreamOf(Command command) => command.RequestCase switch
    {
        Command.RequestOneofCase.Authorise => StreamId.For(command.Authorise.PaymentType, command.Authorise.AccountId),
        Command.RequestOneofCase.Capture => StreamId.For(command.Capture.PaymentType, command.Capture.AccountId),
        Command.RequestOneofCase.Void => StreamId.For(command.Void.PaymentType, command.Void.AccountId),
        _ => StreamId.For(command.Refund.PaymentType, command.Refund.AccountId),
    };

    // Serves every request whole.
    private Reply Answered(Command command)
    {
        var balance = 12.34m.ToMoney("USD");
        switch (command.RequestCase)
        {
            case Command.RequestOneofCase.Payment:
                Add(command.TransactionId, charged: command.Payment.Amount.ToDecimal());
                return new Reply
                {
                    Payment = new MakePaymentResponse
                    {
                        TransactionId = command.TransactionId,
                        Outcome = PaymentOutcome.Accepted,
                        Version = 1,
                        Balance = balance,
                    },
                };
            case Command.RequestOneofCase.Authorise:
                Add(command.TransactionId);
                return new Reply
                {
                    Authorise = new AuthorisePaymentResponse
                    {
                        TransactionId = command.TransactionId,
                        Outcome = PaymentOutcome.Accepted,
                        Version = Version,
                        Balance = balance,
                    },
                };
            case Command.RequestOneofCase.Capture:
                Add(command.Capture.PaymentId, charged: command.Capture.Amount.ToDecimal());
                return new Reply
                {
                    Capture = new CapturePaymentResponse
                    {
                        TransactionId = command.TransactionId,
                        Amount = command.Capture.Amount,
                        Version = Version,
                        Balance = balance,
                    },
                };
            case Command.RequestOneofCase.Void:
                return new Reply
                {
                    Void = new VoidPaymentResponse
                    {
                        TransactionId = command.TransactionId,
                        Version = Version,
                        Balance = balance,
                    },
                };
            case Command.RequestOneofCase.Refund:
                Add(command.Refund.PaymentId, refunded: command.Refund.Amount.ToDecimal());
                return new Reply
                {
                    Refund = new RefundPaymentResponse
                    {
                        TransactionId = command.TransactionId,
                        Amount = command.Refund.Amount,
                        Version = Version,
                        Balance = balance,
                    },
                };
            default:
                var (charged, refunded) = _payments[command.Lookup.TransactionId];
                return new Reply
                {
                    Lookup = new GetTransactionResponse
                    {
                        Entry = new StatementEntry { TransactionId = command.Lookup.TransactionId },
                        Payment =
                            new PaymentTotals { Charged = charged.ToMoney("USD"), Refunded = refunded.ToMoney("USD") },
                    }
                };
        }
    }

    private void Add(string payment, decimal charged = 0, decimal refunded = 0) =>
        _payments.AddOrUpdate(
            payment, (charged, refunded), (_, sum) => (sum.Charged + charged, sum.Refunded + refunded));
}
