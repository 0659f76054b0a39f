using System.Net;
using System.Net.Sockets;

namespace Billing.Webhooks.Security;

/// <summary>To which addresses events may be sent: public ones, and those of the networks that the settings allow.
/// A receiver's name may resolve to any address, also to one of a service within the own network that trusts
/// whoever can reach it.</summary>
/// <param name="allowed">The networks that are allowed although they are not public, separated by commas.</param>
internal sealed class AddressRules(string allowed)
{
    // The IANA registries of special-purpose addresses (RFC 6890), multicast and what is reserved: of IPv4 what is
    // listed here, of IPv6 all but the global unicast addresses that embed no other address.
    private static readonly IPNetwork[] NotPublic4 = Networks(
        "0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.0.0.0/24, 192.0.2.0/24, "
            + "192.31.196.0/24, 192.52.193.0/24, "
        + "192.88.99.0/24, 192.168.0.0/16, 192.175.48.0/24, 198.18.0.0/15, 198.51.100.0/24, 203.0.113.0/24, "
        + "224.0.0.0/4, 240.0.0.0/4");

    private static readonly IPNetwork Global6 = IPNetwork.Parse("2000::/3");

    // Protocol assignments with Teredo, documentation, 6to4, and AS112.
    private static readonly IPNetwork[] NotPublic6 = Networks(
        "2001::/23, 2001:db8::/32, 2002::/16, 2620:4f:8000::/48, 3fff::/20");

    private readonly IPNetwork[] _allowed = Networks(allowed);

    /// <summary>Whether events may be sent to an address. One that stands for an IPv4 address is in the networks of
    /// that one, and never public.</summary>
    public bool Allows(IPAddress address)
    {
        var plain = address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address;
        return Array.Exists(_allowed, network => network.Contains(plain))
            || (!address.IsIPv4MappedToIPv6 && IsPublic(address));
    }

    /// <summary>The items of a list in a setting.</summary>
    public static string[] Listed(string text) =>
        text.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);

    private static bool IsPublic(IPAddress address) => address.AddressFamily switch
    {
        AddressFamily.InterNetwork => !Array.Exists(NotPublic4, network => network.Contains(address)),
        AddressFamily.InterNetworkV6 =>
            Global6.Contains(address) && !Array.Exists(NotPublic6, network => network.Contains(address)),
        _ => false,
    };

    private static IPNetwork[] Networks(string list) => [.. Listed(list).Select(network => IPNetwork.Parse(network))];
}
