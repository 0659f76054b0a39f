using System.Formats.Asn1;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Billing.UnitTests.Proxy.Security.Certificates;

/// <summary>Certificates with any subject, of authorities that sign each other.</summary>
internal static class CertificateForge
{
    public const string CommonName = "2.5.4.3";
    public const string Organisation = "2.5.4.10";
    public const string Unit = "2.5.4.11";
    public const string EmailAddress = "1.2.840.113549.1.9.1";

    private static readonly DateTimeOffset From = TimeProvider.System.GetUtcNow().AddHours(-1);

    /// <summary>Makes an authority.</summary>
    /// <param name="name">Its common name.</param>
    /// <param name="parent">Who signs it; null for itself.</param>
    /// <param name="key">Its key; null for a new one.</param>
    public static X509Certificate2 Authority(string name, X509Certificate2? parent = null, ECDsa? key = null)
    {
        key ??= ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, false));
        if (parent is null)
        {
            return request.CreateSelfSigned(From, From.AddDays(30));
        }
        using var signed = request.Create(parent, From, From.AddDays(29), RandomNumberGenerator.GetBytes(16));
        return signed.CopyWithPrivateKey(key);
    }

    /// <summary>Makes a certificate for a caller.</summary>
    public static X509Certificate2 Issue(X509Certificate2 authority, X500DistinguishedName subject)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(subject, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, true));
        request.CertificateExtensions.Add(
            new X509EnhancedKeyUsageExtension([new Oid("1.3.6.1.5.5.7.3.2")], false));
        using var signed = request.Create(authority, From, From.AddDays(28), RandomNumberGenerator.GetBytes(16));
        return signed.CopyWithPrivateKey(key);
    }

    /// <summary>A handler that trusts everybody and presents a certificate, with those above it.</summary>
    public static SocketsHttpHandler Handler(X509Certificate2 client, params X509Certificate2[] above) => new()
    {
        SslOptions = new SslClientAuthenticationOptions
        {
            RemoteCertificateValidationCallback = (_, server, _, _) => server is not null,
            ClientCertificateContext = SslStreamCertificateContext.Create(client, [.. above], offline: true),
        },
    };

    /// <summary>A subject of parts, each of one or several attributes.</summary>
    public static X500DistinguishedName Subject(params (string Type, byte[] Value)[][] parts)
    {
        var writer = new AsnWriter(AsnEncodingRules.DER);
        using (writer.PushSequence())
        {
            foreach (var part in parts)
            {
                using var _ = writer.PushSetOf();
                foreach (var (type, value) in part)
                {
                    using var attribute = writer.PushSequence();
                    writer.WriteObjectIdentifier(type);
                    writer.WriteEncodedValue(value);
                }
            }
        }
        return new X500DistinguishedName(writer.Encode());
    }

    /// <summary>A text in one of ASN.1's encodings.</summary>
    public static byte[] Text(UniversalTagNumber encoding, string text)
    {
        var writer = new AsnWriter(AsnEncodingRules.DER);
        if (encoding != UniversalTagNumber.UniversalString)
        {
            writer.WriteCharacterString(encoding, text);
            return writer.Encode();
        }
        // The framework does not write it: bytes like those of an octet string, behind another tag.
        writer.WriteOctetString(System.Text.Encoding.GetEncoding("utf-32BE").GetBytes(text));
        var encoded = writer.Encode();
        encoded[0] = (byte)UniversalTagNumber.UniversalString;
        return encoded;
    }
}
