using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.IntegrationTests.Services;

/// <summary>One transaction id, used at the same time for accounts of two payment types: only the receipts table detects the
/// conflict between the two backends.</summary>
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
    public async Task Of_two_payments_with_one_id_one_is_made_and_the_other_is_rejected()
    {
        var pairs = await Task.WhenAll(Enumerable.Range(0, 100).Select(async _ =>
        {
            var visa = StackFixture.Payment();
            var amex = visa.Clone();
            amex.PaymentType = PaymentType.Amex;
            return await Task.WhenAll(PayAsync(visa), PayAsync(amex));
        }));

        Assert.All(pairs, outcomes => Assert.Equal(["ACCEPTED", ErrorReasons.TransactionIdReused], outcomes.Order(StringComparer.Ordinal)));
    }

    private async Task<string> PayAsync(MakePaymentRequest request)
    {
        try
        {
            var paid = await _stack.Proxy().MakePaymentAsync(request);
            return paid.Outcome.ToString().ToUpperInvariant();
        }
        catch (RpcException e) when (e.StatusCode == StatusCode.AlreadyExists)
        {
            return e.Trailers.GetValue(Trailers.Reason)!;
        }
    }
}
