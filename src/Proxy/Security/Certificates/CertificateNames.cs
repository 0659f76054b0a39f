using System.Formats.Asn1;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Proxy.Failures;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Security.Certificates;

/// <summary>Who the holder of a client certificate is: the one common name of its subject, if the authority that the
/// settings list for the name has signed it. Any other subject might be read as another name than its authority has
/// checked.</summary>
internal sealed class CertificateNames(IOptions<AuthOptions> auth)
{
    private const string CommonName = "2.5.4.3";

    private readonly Dictionary<string, CertificateRights> _rights = auth.Value.Certificates;

    /// <summary>Returns the caller that a certificate names.</summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="authorities">The certificates above it, up to that of an authority which the proxy trusts.</param>
    public Outcome<Caller> Identify(X509Certificate2 certificate, IEnumerable<X509Certificate2> authorities)
    {
        if (!TryRead(certificate.SubjectName, out var name, out var problem))
        {
            return Invalid(problem);
        }
        if (_rights.GetValueOrDefault(name) is not { } rights)
        {
            return new Caller(CertificateCallers.SchemeName, Caller.OfCertificate + name, [], new AccountGrants([]));
        }
        if (rights.Authority.Length > 0 && !authorities.Select(FingerprintOf).Intersect(rights.Authorities).Any())
        {
            return Invalid("its authority is not the one that is listed for its name");
        }
        return new Caller(
            CertificateCallers.SchemeName, Caller.OfCertificate + name, AuthOptions.Words(rights.Scopes),
            new AccountGrants(AuthOptions.Words(rights.Accounts)));
    }

    /// <summary>Checks that each name says which authority may sign its certificate if there are several.</summary>
    /// <exception cref="InvalidDataException">One does not.</exception>
    public void RequireAuthorities(IEnumerable<X509Certificate2> authorities)
    {
        // Those above all others: what they have signed themselves is theirs.
        var roots = authorities
            .Where(one => one.SubjectName.RawData.AsSpan().SequenceEqual(one.IssuerName.RawData))
            .DistinctBy(one => (Convert.ToHexString(one.SubjectName.RawData), one.GetPublicKeyString())).Count();
        if (roots > 1 && _rights.FirstOrDefault(one => one.Value.Authority.Length == 0).Key is { } name)
        {
            throw new InvalidDataException(
                $"It has {roots} authorities, and {AuthOptions.Section}:Certificates:{name}:Authority does not say "
                + "which of them may sign the certificate of that name.");
        }
    }

    /// <summary>The first listed authority that is not there, as a sentence that names the setting;
    /// null if all are.</summary>
    public string? Missing(IEnumerable<X509Certificate2> authorities)
    {
        var there = authorities.DistinctBy(FingerprintOf).ToDictionary(FingerprintOf, one => one.Subject);
        return (
            from one in _rights
            from listed in one.Value.Authorities
            where !there.ContainsKey(listed)
            select $"{AuthOptions.Section}:Certificates:{one.Key}:Authority: {TlsOptions.Section}:"
                + $"{nameof(TlsOptions.ClientCaFile)} has no certificate with the SHA-256 fingerprint {listed}; it has "
                + $"{string.Join(", ", there.Select(pair => $"{pair.Key} ({pair.Value})"))}.").FirstOrDefault();
    }

    /// <summary>Reads the name of a caller from a subject.</summary>
    /// <param name="subject">The subject.</param>
    /// <param name="name">The name.</param>
    /// <param name="problem">Why there is none, as the end of a sentence about the certificate.</param>
    internal static bool TryRead(X500DistinguishedName subject, out string name, out string problem)
    {
        (name, problem) = ("", "");
        try
        {
            List<string> names = [];
            foreach (var part in subject.EnumerateRelativeDistinguishedNames())
            {
                if (part.HasMultipleElements)
                {
                    problem = "a part of its subject has several values";
                    return false;
                }
                if (part.GetSingleElementType().Value == CommonName)
                {
                    names.Add(part.GetSingleElementValue() is { } value && !HasNul(part, value) ? value : "");
                }
            }
            name = names is [var only] ? only : "";
            problem = names.Count != 1 ? $"its subject has {names.Count} common names (CN), and one is needed"
                : name.Length == 0 || !WireFormat.IsName(Caller.OfCertificate + name)
                    ? "its common name is empty, is too long, or has characters that do not show"
                    : "";
        }
        catch (Exception e) when (e is CryptographicException or AsnContentException)
        {
            problem = "its subject cannot be read";
        }
        return problem.Length == 0;
    }

    // The framework leaves NULs at the end of a value out.
    private static bool HasNul(X500RelativeDistinguishedName part, string value)
    {
        var attribute = new AsnReader(part.RawData, AsnEncodingRules.DER).ReadSetOf().ReadSequence();
        attribute.ReadObjectIdentifier();
        var content = attribute.PeekContentBytes().Span;
        return attribute.PeekTag().HasSameClassAndValue(new Asn1Tag(UniversalTagNumber.BMPString))
            ? content.Length != 2 * value.Length
            : content.Contains((byte)0);
    }

    private static string FingerprintOf(X509Certificate2 certificate) =>
        certificate.GetCertHashString(HashAlgorithmName.SHA256);

    private static Failure Invalid(string why) => new(
        StatusCode.Unauthenticated, ErrorReasons.CertificateInvalid, $"The client certificate names no caller: {why}.");
}
