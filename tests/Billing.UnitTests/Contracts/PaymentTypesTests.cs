using Billing.Contracts;
using Billing.V1;

namespace Billing.UnitTests.Contracts;

public sealed class PaymentTypesTests
{
    [Fact]
    public void The_payment_types_are_those_of_the_public_contract() =>
        Assert.Equal(Enum.GetValues<PaymentType>().Where(type => type != PaymentType.Unspecified), PaymentTypes.All);

    [Theory]
    [InlineData(PaymentType.Visa, "visa")]
    [InlineData(PaymentType.Mastercard, "mastercard")]
    [InlineData(PaymentType.Discover, "discover")]
    [InlineData(PaymentType.Amex, "amex")]
    public void The_names_in_topics_and_streams_never_change(PaymentType type, string name) =>
        Assert.Equal(name, PaymentTypes.NameOf(type));

    [Theory]
    [InlineData(PaymentType.Unspecified)]
    [InlineData((PaymentType)99)]
    [InlineData((PaymentType)(-1))]
    public void An_unknown_payment_type_has_no_name(PaymentType type) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => PaymentTypes.NameOf(type));

    [Theory]
    [InlineData("src/Proxy/Rest/PaymentRoute.cs")]
    [InlineData("src/Proxy/Live/Page/index.html")]
    [InlineData("docs/wire-protocol.md")]
    public void A_document_that_lists_payment_types_lists_all_of_them(string file)
    {
        var text = string.Join('\n', Repository.Lines(file));

        Assert.All(
            PaymentTypes.All,
            type => Assert.Contains(PaymentTypes.NameOf(type), text, StringComparison.OrdinalIgnoreCase));
    }
}
