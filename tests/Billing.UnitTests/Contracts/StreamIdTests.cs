using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using FsCheck.Fluent;

namespace Billing.UnitTests.Contracts;

public sealed class StreamIdTests
{
    [Theory]
    [InlineData(PaymentType.Visa, "visa/acct-42")]
    [InlineData(PaymentType.Mastercard, "mastercard/acct-42")]
    [InlineData(PaymentType.Discover, "discover/acct-42")]
    [InlineData(PaymentType.Amex, "amex/acct-42")]
    public void A_stream_is_named_by_type_and_account(PaymentType type, string expected) =>
        Assert.Equal(expected, StreamId.For(type, "acct-42"));

    [Fact]
    public void Different_accounts_have_different_streams()
    {
        var account =
            from type in Generate.PaymentType
            from id in Generate.AccountId
            select (Type: type, Id: id);
        account.Two().Holds(two => Assert.Equal(
            two.Item1 == two.Item2,
            StreamId.For(two.Item1.Type, two.Item1.Id) == StreamId.For(two.Item2.Type, two.Item2.Id)));
    }

    [Fact]
    public void A_stream_id_is_split_into_type_and_account() =>
        (from type in Generate.PaymentType from id in Generate.AccountId select (Type: type, Id: id))
            .Holds(account => Assert.Equal(
                (PaymentTypes.NameOf(account.Type), account.Id),
                StreamId.Split(StreamId.For(account.Type, account.Id))));

    [Fact]
    public void What_has_no_payment_type_is_no_account_s_stream() => Assert.Null(StreamId.Split("mt_tombstone"));

    [Fact]
    public void An_unknown_payment_type_has_no_stream() =>
        Assert.Throws<ArgumentOutOfRangeException>(() => StreamId.For(PaymentType.Unspecified, "acct-42"));
}
