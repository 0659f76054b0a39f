using System.Text;
using Billing.Webhooks.Security;

namespace Billing.UnitTests.Webhooks;

public sealed class WebhookSignatureTests
{
    private const string Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    // The example of the specification's libraries.
    private const string Signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    private static readonly byte[] Body = Encoding.UTF8.GetBytes("{\"test\": 2432232314}");

    [Fact]
    public void The_signature_is_that_of_the_specification() =>
        Assert.Equal(Signature, new WebhookSignature(Secret).Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", Body));

    [Theory]
    [InlineData(" ")]
    [InlineData("\n")]
    public void While_a_secret_is_replaced_there_is_a_signature_with_each(string separator)
    {
        var secrets = "whsec_bmV3IHNlY3JldCBvZiAzMiBieXRlcywgbm8gbGVzcyE=" + separator + Secret;

        var signatures = new WebhookSignature(secrets).Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", Body)
            .Split(' ');

        Assert.Equal(2, signatures.Length);
        Assert.Equal(Signature, signatures[1]);
        Assert.NotEqual(Signature, signatures[0]);
    }

    [Theory]
    [InlineData("")]
    [InlineData("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    [InlineData("whsec_")]
    [InlineData("whsec_c2hvcnQ=")]
    [InlineData("whsec_not base64")]
    [InlineData(Secret + " short")]
    [InlineData(Secret + " " + Secret + " " + Secret)]
    [InlineData("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")]
    public void A_secret_that_is_none_is_refused_without_being_shown(string secret)
    {
        var problem = WebhookSignature.Problem(secret);

        Assert.StartsWith("must be whsec_ followed by 24 to 64 random bytes", problem, StringComparison.Ordinal);
        Assert.DoesNotContain("MfKQ9r8", problem, StringComparison.Ordinal);
    }

    [Fact]
    public void A_secret_may_end_with_a_line_break_as_in_a_file() =>
        Assert.Null(WebhookSignature.Problem(Secret + "\n"));
}
