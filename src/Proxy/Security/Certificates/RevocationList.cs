using System.Formats.Asn1;
using System.Numerics;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Billing.Proxy.Security.Certificates;

/// <summary>A list of an authority's revoked certificates (RFC 5280, section 5), whose signature has been verified.
/// The framework builds such lists, but reads only those that it has downloaded itself.</summary>
internal sealed class RevocationList
{
    private const string Pem = "X509 CRL";

    private static readonly Dictionary<string, HashAlgorithmName> Algorithms = new(StringComparer.Ordinal)
    {
        ["1.2.840.113549.1.1.11"] = HashAlgorithmName.SHA256,
        ["1.2.840.113549.1.1.12"] = HashAlgorithmName.SHA384,
        ["1.2.840.113549.1.1.13"] = HashAlgorithmName.SHA512,
        ["1.2.840.10045.4.3.2"] = HashAlgorithmName.SHA256,
        ["1.2.840.10045.4.3.3"] = HashAlgorithmName.SHA384,
        ["1.2.840.10045.4.3.4"] = HashAlgorithmName.SHA512,
    };

    private readonly HashSet<BigInteger> _serials = [];

    /// <summary>Reads a list in DER.</summary>
    /// <exception cref="CryptographicException">It cannot be read, none of the authorities has signed it,
    /// or it is not complete.</exception>
    private RevocationList(ReadOnlyMemory<byte> encoded, IEnumerable<X509Certificate2> authorities)
    {
        try
        {
            var reader = new AsnReader(encoded, AsnEncodingRules.DER);
            var list = reader.ReadSequence();
            reader.ThrowIfNotEmpty();
            var signed = list.PeekEncodedValue();
            var content = list.ReadSequence();
            var algorithm = list.ReadSequence().ReadObjectIdentifier();
            var signature = list.ReadBitString(out _);
            list.ThrowIfNotEmpty();
            if (content.PeekTag().HasSameClassAndValue(Asn1Tag.Integer))
            {
                content.ReadIntegerBytes();
            }
            content.ReadSequence();
            var issuer = new X500DistinguishedName(content.ReadEncodedValue().Span);
            Authorities = [.. authorities.Where(
                authority => authority.SubjectName.RawData.AsSpan().SequenceEqual(issuer.RawData)
                    && IsSignedBy(authority, algorithm, signed.Span, signature))];
            if (Authorities.Count == 0)
            {
                throw new CryptographicException(
                    $"The list of '{issuer.Name}' is not signed by one of the authorities in ClientCaFile.");
            }
            ReadTime(content);
            Until = content.HasData && IsTime(content) ? ReadTime(content)
                : throw new CryptographicException(
                    $"The list of '{issuer.Name}' does not say when the next one is due (nextUpdate).");
            if (content.HasData && content.PeekTag().HasSameClassAndValue(Asn1Tag.Sequence))
            {
                ReadEntries(content.ReadSequence());
            }
            if (content.HasData)
            {
                RefuseParts(content.ReadSequence(new Asn1Tag(TagClass.ContextSpecific, 0)).ReadSequence());
            }
        }
        catch (AsnContentException e)
        {
            throw new CryptographicException("It is not a list of revoked certificates: " + e.Message, e);
        }
    }

    /// <summary>The certificates of the authority that has signed it: of the same name and key.</summary>
    public IReadOnlyList<X509Certificate2> Authorities { get; }

    /// <summary>When the next list is due: from then on, certificates may be revoked that this
    /// one does not name.</summary>
    public DateTimeOffset Until { get; }

    /// <summary>Reads a file: one list in DER, or any number in PEM.</summary>
    /// <exception cref="CryptographicException">One cannot be used, there is none, or there is none of one
    /// of the authorities.</exception>
    public static IReadOnlyList<RevocationList> ReadAll(byte[] file, IReadOnlyCollection<X509Certificate2> authorities)
    {
        RevocationList[] all = [.. Encoded(file).Select(encoded => new RevocationList(encoded, authorities))];
        var without = authorities.FirstOrDefault(
            authority => !Array.Exists(all, list => list.Authorities.Contains(authority)));
        return without is null ? all : throw new CryptographicException($"It has no list of '{without.Subject}'.");
    }

    /// <summary>Whether it names the certificate of its authority that has the serial number.</summary>
    public bool Names(BigInteger serial) => _serials.Contains(serial);

    /// <summary>A certificate's serial number.</summary>
    public static BigInteger SerialOf(X509Certificate2 certificate) => Number(certificate.SerialNumberBytes.Span);

    private static BigInteger Number(ReadOnlySpan<byte> bytes) => new(bytes, isUnsigned: true, isBigEndian: true);

    private static List<ReadOnlyMemory<byte>> Encoded(byte[] file)
    {
        // DER begins with the tag of a sequence, which is also the digit 0.
        if (file is [0x30, ..] && file.AsSpan().IndexOf("-----BEGIN"u8) < 0)
        {
            return [file];
        }
        var found = new List<ReadOnlyMemory<byte>>();
        ReadOnlySpan<char> text = System.Text.Encoding.UTF8.GetString(file);
        while (PemEncoding.TryFind(text, out var fields))
        {
            if (text[fields.Label].SequenceEqual(Pem))
            {
                found.Add(Convert.FromBase64String(text[fields.Base64Data].ToString()));
            }
            text = text[fields.Location.End..];
        }
        return found;
    }

    private static bool IsSignedBy(
        X509Certificate2 authority, string algorithm, ReadOnlySpan<byte> content, byte[] signature)
    {
        if (!Algorithms.TryGetValue(algorithm, out var hash))
        {
            throw new CryptographicException(
                $"It is signed with the algorithm {algorithm}; only RSA (PKCS #1) and ECDSA, with SHA-2, "
                + "are supported.");
        }
        using var rsa = authority.GetRSAPublicKey();
        using var ecdsa = authority.GetECDsaPublicKey();
        return rsa?.VerifyData(content, signature, hash, RSASignaturePadding.Pkcs1)
            ?? ecdsa?.VerifyData(content, signature, hash, DSASignatureFormat.Rfc3279DerSequence) ?? false;
    }

    private static bool IsTime(AsnReader reader) => reader.PeekTag() is { TagClass: TagClass.Universal } tag
        && tag.TagValue is (int)UniversalTagNumber.UtcTime or (int)UniversalTagNumber.GeneralizedTime;

    private static DateTimeOffset ReadTime(AsnReader reader) =>
        reader.PeekTag().TagValue == (int)UniversalTagNumber.UtcTime
            ? reader.ReadUtcTime()
            : reader.ReadGeneralizedTime();

    private void ReadEntries(AsnReader entries)
    {
        while (entries.HasData)
        {
            _serials.Add(Number(entries.ReadSequence().ReadIntegerBytes().Span));
        }
    }

    // Critical ones say that the list is about a part of the certificates, or only about what has changed.
    private static void RefuseParts(AsnReader extensions)
    {
        while (extensions.HasData)
        {
            var extension = extensions.ReadSequence();
            var id = extension.ReadObjectIdentifier();
            if (extension.PeekTag().HasSameClassAndValue(Asn1Tag.Boolean) && extension.ReadBoolean())
            {
                throw new CryptographicException(
                    $"It has the critical extension {id}; only complete lists are supported.");
            }
        }
    }
}
