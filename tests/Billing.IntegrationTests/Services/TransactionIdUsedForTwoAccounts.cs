using Billing.Contracts;
using Billing.V1;

namespace Billing.IntegrationTests.Services;

/// <summary>One transaction id, used at the same time for accounts of two payment types, by two backends:
/// it belongs to each account.</summary>
[Collection(OverKafka.Name)]
public sealed class TransactionIdUsedForTwoAccounts
{
    private readonly KafkaStack _stack;

    public TransactionIdUsedForTwoAccounts(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task Both_payments_are_made_and_each_again_gets_its_own_answer()
    {
        var visa = Enumerable.Range(0, 50).Select(_ => StackFixture.Payment()).ToList();
        var both = visa.Concat(visa.Select(payment =>
        {
            var amex = payment.Clone();
            (amex.PaymentType, amex.Amount) = (PaymentType.Amex, 77m.ToMoney("USD"));
            return amex;
        })).ToList();

        var paid = await Task.WhenAll(both.Select(payment => _stack.Proxy().MakePaymentAsync(payment).ResponseAsync));
        var again = await Task.WhenAll(both.Select(payment => _stack.Proxy().MakePaymentAsync(payment).ResponseAsync));

        Assert.All(paid.Zip(both), pair => Assert.Equal(pair.Second.Amount, pair.First.Balance));
        Assert.Equal(paid.Select(answer => answer.AsReplay()), again);
    }
}
