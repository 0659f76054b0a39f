using System.Formats.Asn1;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Billing.Contracts;
using Billing.Hosting;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;
using Microsoft.Extensions.Options;
using static Billing.UnitTests.Proxy.Security.Certificates.CertificateForge;

namespace Billing.UnitTests.Proxy.Security.Certificates;

/// <summary>Who a client certificate says that its holder is: by its subject, and by who has signed it.</summary>
public sealed class CertificateNameTests
{
    private const string Name = "shop";

    private static readonly UniversalTagNumber[] Encodings =
    [
        UniversalTagNumber.UTF8String, UniversalTagNumber.PrintableString, UniversalTagNumber.T61String,
        UniversalTagNumber.BMPString, UniversalTagNumber.IA5String, UniversalTagNumber.UniversalString,
    ];

    [Fact]
    public async Task A_caller_has_the_one_common_name_of_a_subject_of_single_values_whatever_its_encoding()
    {
        using var authority = Authority("one");
        await using var proxy = await StartAsync([authority]);
        var wrong = new List<string>();
        var tried = 0;
        foreach (var (form, subject, isShop) in Subjects())
        {
            using var client = TryIssue(authority, subject);
            if (client is null)
            {
                // Nobody can present it: the library that reads certificates does not read it.
                continue;
            }
            tried++;
            var reason = await ReasonAsync(proxy, client);
            if (reason != (isShop ? null : ErrorReasons.CertificateInvalid))
            {
                wrong.Add($"{form}: {reason ?? "accepted"}");
            }
        }

        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
        Assert.True(tried > 70, $"{tried} were tried.");
    }

    [Fact]
    public async Task A_name_counts_only_from_the_authority_that_is_listed_for_it_and_from_those_that_it_has_signed()
    {
        using var listed = Authority("listed");
        using var other = Authority("other");
        using var below = Authority("below", listed);
        using var belowOther = Authority("below other", other);
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var crossed = Authority("crossed", listed, key);
        using var crossedByOther = Authority("crossed", other, key);
        await using var proxy = await StartAsync([listed, other], FingerprintOf(listed));

        var reasons = new List<(string Case, string? Reason)>();
        foreach (var (name, issuer, above) in ((string, X509Certificate2, X509Certificate2[])[])
        [
            ("listed", listed, []), ("below", below, [below]), ("crossed", crossed, [crossed]),
            ("other", other, []), ("below other", belowOther, [belowOther]),
            ("crossed by other", crossedByOther, [crossedByOther]),
        ])
        {
            using var client = Issue(issuer, Shop());
            reasons.Add((name, await ReasonAsync(proxy, client, above)));
        }

        Assert.Equal(
        [
            ("listed", null), ("below", null), ("crossed", null), ("other", ErrorReasons.CertificateInvalid),
            ("below other", ErrorReasons.CertificateInvalid), ("crossed by other", ErrorReasons.CertificateInvalid),
        ], reasons);
    }

    [Fact]
    public async Task A_name_may_be_for_an_authority_below_another_and_for_several()
    {
        using var root = Authority("root");
        using var below = Authority("below", root);
        using var beside = Authority("beside", root);
        await using var proxy = await StartAsync(
            [root, below, beside], $"{FingerprintOf(below)} {FingerprintOf(beside).ToLowerInvariant()}");
        using var ofRoot = Issue(root, Shop());
        using var ofBelow = Issue(below, Shop());
        using var ofBeside = Issue(beside, Shop());

        Assert.Null(await ReasonAsync(proxy, ofBelow));
        Assert.Null(await ReasonAsync(proxy, ofBeside));
        Assert.Equal(ErrorReasons.CertificateInvalid, await ReasonAsync(proxy, ofRoot));
    }

    [Fact]
    public async Task A_certificate_whose_name_is_not_listed_may_do_nothing()
    {
        using var authority = Authority("one");
        await using var proxy = await StartAsync([authority]);
        using var other = Issue(authority, new X500DistinguishedName("CN=Shop"));

        Assert.Equal(ErrorReasons.ScopeMissing, await ReasonAsync(proxy, other));
    }

    [Fact]
    public async Task Of_several_authorities_each_name_has_to_state_its_own_which_has_to_be_in_the_file()
    {
        using var one = Authority("one");
        using var two = Authority("two");

        var unstated = await Assert.ThrowsAsync<StartupException>(() => StartAsync([one, two]));
        var missing = await Assert.ThrowsAsync<StartupException>(() => StartAsync([one], FingerprintOf(two)));

        Assert.Contains("ClientCaFile", unstated.Message, StringComparison.Ordinal);
        Assert.Contains(
            "It has 2 authorities, and Billing:Auth:Certificates:shop:Authority does not say", unstated.Message,
            StringComparison.Ordinal);
        Assert.StartsWith(
            "Billing:Auth:Certificates:shop:Authority: Billing:Tls:ClientCaFile has no certificate with the SHA-256 "
            + $"fingerprint {FingerprintOf(two).Replace(":", "", StringComparison.Ordinal)}; it has ", missing.Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_file_of_authorities_is_not_replaced_by_one_of_several_that_a_name_does_not_choose_from()
    {
        var time = new ManualTime();
        using var one = Authority("one");
        using var two = Authority("two");
        await using var proxy = await StartAsync([one], time: time);
        using var ofOne = Issue(one, Shop());
        using var ofTwo = Issue(two, Shop());

        await File.WriteAllTextAsync(proxy.CaFile, Pem([one, two]), TestContext.Current.CancellationToken);
        time.Advance(TimeSpan.FromSeconds(2));

        Assert.Null(await ReasonAsync(proxy, ofOne));
        Assert.NotNull(await ReasonAsync(proxy, ofTwo));
    }

    [Fact]
    public async Task Without_a_listed_name_and_without_tokens_a_proxy_that_asks_for_certificates_does_not_start()
    {
        var refused = await Assert.ThrowsAsync<OptionsValidationException>(
            () => SecureProxy.StartAsync(tokens: false));

        Assert.StartsWith(
            "Billing:Tls:ClientCaFile lets nobody do anything: Billing:Auth:Certificates has to say",
            Assert.Single(refused.Failures), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Without_a_listed_name_a_certificate_allows_nothing_and_tokens_are_served()
    {
        await using var proxy = await SecureProxy.StartAsync();

        await proxy.Client(_token(proxy)).MakePaymentAsync(Samples.Payment());
        var refused = await Assert.ThrowsAsync<RpcException>(
            () => proxy.Client(clientPem: proxy.Authority.Client(Name)).MakePaymentAsync(Samples.Payment())
                .ResponseAsync);

        Assert.Equal(ErrorReasons.ScopeMissing, refused.Reason());

        static string _token(SecureProxy proxy) => proxy.Token("payments:write", "*/*");
    }

    private static X509Certificate2? TryIssue(X509Certificate2 authority, X500DistinguishedName subject)
    {
        try
        {
            return Issue(authority, subject);
        }
        catch (CryptographicException)
        {
            return null;
        }
    }

    // Each shape in each encoding.
    private static IEnumerable<(string Form, X500DistinguishedName Subject, bool IsShop)> Subjects()
    {
        foreach (var encoding in Encodings)
        {
            (string, byte[]) Cn(string text) => (CommonName, Text(encoding, text));
            (string, byte[]) Of(string type) => (type, Text(encoding, Name));
            // The framework reads no texts of four bytes for each character.
            var isRead = encoding != UniversalTagNumber.UniversalString;
            foreach (var (shape, subject, isShop) in ((string, (string, byte[])[][], bool)[])
            [
                ("CN", [[Cn(Name)]], true),
                ("O, CN", [[Of(Organisation)], [Cn(Name)]], true),
                ("CN, O, OU", [[Cn(Name)], [Of(Organisation)], [Of(Unit)]], true),
                ("CN, CN", [[Cn(Name)], [Cn(Name)]], false),
                ("CN, another CN", [[Cn("other")], [Cn(Name)]], false),
                ("CN + O", [[Cn(Name), Of(Organisation)]], false),
                ("CN + CN", [[Cn(Name), Cn("tops")]], false),
                ("O + OU, CN", [[Of(Organisation), Of(Unit)], [Cn(Name)]], false),
                ("nothing", [], false),
                ("O", [[Of(Organisation)]], false),
                ("OU", [[Of(Unit)]], false),
                ("emailAddress", [[Of(EmailAddress)]], false),
                ("empty CN", [[Cn("")]], false),
                ("long CN", [[Cn(new string('a', 300))]], false),
                ("CN that is a number", [[(CommonName, [2, 1, 7])]], false),
            ])
            {
                yield return ($"{encoding}: {shape}", Subject(subject), isShop && isRead);
            }
            if (encoding is UniversalTagNumber.UTF8String or UniversalTagNumber.BMPString)
            {
                yield return ($"{encoding}: CN with NUL", Subject([[Cn(Name + "\0")]]), false);
                yield return ($"{encoding}: CN that turns", Subject([[Cn("\u202Epohs")]]), false);
            }
        }
    }

    private static X500DistinguishedName Shop() => new($"CN={Name}");

    private static string FingerprintOf(X509Certificate2 certificate) => string.Join(
        ':', certificate.GetCertHash(HashAlgorithmName.SHA256).Select(one => one.ToString("X2", null)));

    private static string Pem(IEnumerable<X509Certificate2> certificates) =>
        string.Join('\n', certificates.Select(one => one.ExportCertificatePem()));

    private static Task<SecureProxy> StartAsync(
        X509Certificate2[] authorities, string authority = "", TimeProvider? time = null) =>
        SecureProxy.StartAsync(
            new()
            {
                ["Billing:Auth:Certificates:shop:Accounts"] = "*/*",
                ["Billing:Auth:Certificates:shop:Scopes"] = "payments:write",
                ["Billing:Auth:Certificates:shop:Authority"] = authority,
            },
            time, tokens: false, ca: Pem(authorities));

    // Null if the payment was accepted.
    private static async Task<string?> ReasonAsync(
        SecureProxy proxy, X509Certificate2 client, params X509Certificate2[] above)
    {
        using var http = new HttpClient(Handler(client, above));
        using var channel = GrpcChannel.ForAddress(proxy.Grpc, new GrpcChannelOptions { HttpClient = http });
        try
        {
            await new BillingService.BillingServiceClient(channel).MakePaymentAsync(Samples.Payment());
            return null;
        }
        catch (RpcException e)
        {
            return e.Reason() ?? e.StatusCode.ToString();
        }
    }
}
