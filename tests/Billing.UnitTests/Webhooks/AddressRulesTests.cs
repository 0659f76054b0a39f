using System.Net;
using Billing.Webhooks.Security;

namespace Billing.UnitTests.Webhooks;

public sealed class AddressRulesTests
{
    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("127.255.255.254")]
    [InlineData("0.0.0.0")]
    [InlineData("0.1.2.3")]
    [InlineData("10.0.0.1")]
    [InlineData("172.16.0.1")]
    [InlineData("172.31.255.255")]
    [InlineData("192.168.1.1")]
    [InlineData("169.254.169.254")]
    [InlineData("100.64.0.1")]
    [InlineData("100.127.255.255")]
    [InlineData("192.0.0.8")]
    [InlineData("192.0.2.1")]
    [InlineData("192.88.99.1")]
    [InlineData("198.18.0.1")]
    [InlineData("198.51.100.1")]
    [InlineData("203.0.113.1")]
    [InlineData("224.0.0.1")]
    [InlineData("239.255.255.255")]
    [InlineData("240.0.0.1")]
    [InlineData("255.255.255.255")]
    [InlineData("::")]
    [InlineData("::1")]
    [InlineData("::7f00:1")]
    [InlineData("::ffff:127.0.0.1")]
    [InlineData("::ffff:10.0.0.1")]
    [InlineData("::ffff:93.184.216.34")]
    [InlineData("::ffff:0:127.0.0.1")]
    [InlineData("64:ff9b::7f00:1")]
    [InlineData("64:ff9b::5db8:d822")]
    [InlineData("64:ff9b:1::a00:1")]
    [InlineData("100::1")]
    [InlineData("2001::1")]
    [InlineData("2001:db8::1")]
    [InlineData("2002:7f00:1::1")]
    [InlineData("2002:a00:1::1")]
    [InlineData("3fff::1")]
    [InlineData("5f00::1")]
    [InlineData("fc00::1")]
    [InlineData("fd12:3456::1")]
    [InlineData("fe80::1")]
    [InlineData("fe80::1%1")]
    [InlineData("fec0::1")]
    [InlineData("ff02::1")]
    [InlineData("ff0e::1")]
    public void An_address_that_is_not_public_is_refused(string address) =>
        Assert.False(new AddressRules("").Allows(IPAddress.Parse(address)));

    [Theory]
    [InlineData("93.184.216.34")]
    [InlineData("1.1.1.1")]
    [InlineData("100.63.255.255")]
    [InlineData("100.128.0.1")]
    [InlineData("172.15.255.255")]
    [InlineData("172.32.0.1")]
    [InlineData("223.255.255.255")]
    [InlineData("2001:200::1")]
    [InlineData("2606:4700:4700::1111")]
    [InlineData("2a00:1450:4001::1")]
    public void A_public_address_is_allowed(string address) =>
        Assert.True(new AddressRules("").Allows(IPAddress.Parse(address)));

    [Theory]
    [InlineData("10.1.0.0/16, fd00:1::/64", "10.1.2.3", true)]
    [InlineData("10.1.0.0/16, fd00:1::/64", "fd00:1::5", true)]
    [InlineData("10.1.0.0/16, fd00:1::/64", "10.2.0.1", false)]
    [InlineData("10.1.0.0/16, fd00:1::/64", "fd00:2::5", false)]
    [InlineData("10.1.0.0/16, fd00:1::/64", "127.0.0.1", false)]
    [InlineData("10.1.0.0/16", "::ffff:10.1.2.3", true)]
    [InlineData("10.1.0.0/16", "::ffff:10.2.0.1", false)]
    [InlineData("::/0", "::ffff:10.2.0.1", false)]
    [InlineData("64:ff9b::/96", "64:ff9b::5db8:d822", true)]
    public void Networks_of_the_settings_are_allowed_and_nothing_beside_them(
        string networks, string address, bool isAllowed) =>
        Assert.Equal(isAllowed, new AddressRules(networks).Allows(IPAddress.Parse(address)));
}
