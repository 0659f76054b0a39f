using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Billing.Client;

namespace Billing.UnitTests.Client;

/// <summary>Which certificates of proxies a client trusts whose authorities are in a file.</summary>
public sealed class TrustedAuthoritiesTests : IDisposable
{
    private const SslPolicyErrors Unknown = SslPolicyErrors.RemoteCertificateChainErrors;

    private readonly SelfMadeCertificates _ours = new();
    private readonly SelfMadeCertificates _others = new();

    public void Dispose()
    {
        _ours.Dispose();
        _others.Dispose();
    }

    [Fact]
    public void A_certificate_for_servers_that_an_authority_of_the_file_has_signed_is_accepted_and_no_other_one()
    {
        var trusted = new TrustedAuthorities(_ours.CaFile);
        using var forClients = X509CertificateLoader.LoadCertificateFromFile(_ours.ClientFile);

        Assert.True(Accepts(trusted, _ours.Server, Unknown));
        Assert.False(Accepts(trusted, _others.Server, Unknown));
        Assert.False(Accepts(trusted, _others.Server, SslPolicyErrors.None));
        Assert.False(Accepts(trusted, forClients, Unknown));
    }

    [Theory]
    [InlineData(SslPolicyErrors.RemoteCertificateNameMismatch)]
    [InlineData(SslPolicyErrors.RemoteCertificateNameMismatch | Unknown)]
    [InlineData(SslPolicyErrors.RemoteCertificateNotAvailable)]
    public void Whatever_the_authority_a_certificate_of_another_name_is_refused(SslPolicyErrors errors)
    {
        var trusted = new TrustedAuthorities(_ours.CaFile);

        Assert.False(Accepts(trusted, _ours.Server, errors));
        Assert.False(Accepts(trusted, null, errors));
    }

    [Fact]
    public void Another_authority_takes_over_beside_the_former_one_and_then_alone_and_a_broken_file_changes_nothing()
    {
        var trusted = new TrustedAuthorities(_ours.CaFile);
        var (first, second) = (File.ReadAllText(_ours.CaFile), File.ReadAllText(_others.CaFile));

        Assert.Equal((true, false), Accepted());
        File.WriteAllText(_ours.CaFile, second + "\n" + first);
        Assert.Equal((true, true), Accepted());
        File.WriteAllText(_ours.CaFile, second);
        Assert.Equal((false, true), Accepted());
        File.WriteAllText(_ours.CaFile, "hello");
        Assert.Equal((false, true), Accepted());
        File.Delete(_ours.CaFile);
        Assert.Equal((false, true), Accepted());

        (bool, bool) Accepted() => (Accepts(trusted, _ours.Server, Unknown), Accepts(trusted, _others.Server, Unknown));
    }

    private bool Accepts(TrustedAuthorities trusted, X509Certificate2? shown, SslPolicyErrors errors)
    {
        try
        {
            return trusted.Accept(this, shown, null, errors);
        }
        catch (AuthenticationException)
        {
            return false;
        }
    }
}
