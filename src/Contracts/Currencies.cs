using System.Collections.Frozen;

namespace Billing.Contracts;

/// <summary>The currencies that an amount may be in, with their decimals: list one of ISO 4217 as SIX, its maintenance
/// agency, published it on 2026-01-01. Codes of funds (CHE, CLF) and codes without a minor unit (metals, baskets, XTS
/// for tests, XXX for none) are left out: nobody owes an amount in them.</summary>
public static class Currencies
{
    private static readonly FrozenDictionary<string, int> Decimals = new (int Decimals, string Codes)[]
    {
        (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"),
        (2, """
            AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND
            BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP
            CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS
            GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES
            KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD
            MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK
            NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD
            SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB
            TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG
            """),
        (3, "BHD IQD JOD KWD LYD OMR TND"),
        (4, "UYW"),
    }
    .SelectMany(group =>
        group.Codes.Split((char[])[' ', '\n'], StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
            .Select(code => KeyValuePair.Create(code, group.Decimals)))
    .ToFrozenDictionary(StringComparer.Ordinal);

    /// <summary>How many decimals an amount in a currency may have: 2 for USD, 0 for JPY;
    /// null for a code that is no currency of the list.</summary>
    public static int? DecimalsOf(string currencyCode) =>
        Decimals.TryGetValue(currencyCode, out var decimals) ? decimals : null;
}
