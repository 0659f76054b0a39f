using Billing.Messaging.Requests;
using Billing.UnitTests.Testing;
using Billing.V1;

namespace Billing.UnitTests.Messaging;

public sealed class PaymentFingerprintTests
{
    /// <summary>Computed by another program, from docs/wire-protocol.md.</summary>
    [Fact]
    public void The_fingerprint_is_as_backends_in_other_languages_compute_it()
    {
        Assert.Equal(
            "1aa46e38d2587c0406e5082028432600",
            Hex(Samples.Dollars(12, 340_000_000), Notes("order 7", ("shop", "Z\u00FCrich"), ("Till", "3"))));
        Assert.Equal("5a8aece3803a49ec065adca4f83224a0", Hex(Samples.Dollars(1), null));
    }

    [Fact]
    public void Notes_without_contents_are_the_same_as_none() =>
        Assert.Equal(Hex(Samples.Dollars(1), null), Hex(Samples.Dollars(1), new PaymentNotes()));

    [Fact]
    public void Pairs_are_the_same_in_any_order() => Assert.Equal(
        Hex(Samples.Dollars(1), Notes("", ("a", "1"), ("B", "2"))),
        Hex(Samples.Dollars(1), Notes("", ("B", "2"), ("a", "1"))));

    [Fact]
    public void Payments_that_differ_anywhere_have_other_fingerprints()
    {
        (Money, PaymentNotes?)[] payments =
        [
            (Samples.Dollars(1), null), (Samples.Dollars(2), null), (Samples.Dollars(1, 10_000_000), null),
            (new Money { CurrencyCode = "EUR", Units = 1 }, null),
            (Samples.Dollars(1), Notes("ab")), (Samples.Dollars(1), Notes("a")),
            (Samples.Dollars(1), Notes("a", ("b", "c"))), (Samples.Dollars(1), Notes("a", ("bc", ""))),
            (Samples.Dollars(1), Notes("", ("a", "b"))), (Samples.Dollars(1), Notes("", ("b", "a"))),
            (Samples.Dollars(1), Notes("", ("a", "b"), ("c", "d"))),
        ];

        Assert.Equal(payments.Length, payments.Select(payment => Hex(payment.Item1, payment.Item2)).Distinct().Count());
    }

    private static string Hex(Money amount, PaymentNotes? notes) =>
        Convert.ToHexStringLower(PaymentFingerprint.Of(amount, notes));

    private static PaymentNotes Notes(string reference, params ReadOnlySpan<(string Name, string Value)> pairs)
    {
        var notes = new PaymentNotes { Reference = reference };
        foreach (var (name, value) in pairs)
        {
            notes.Metadata.Add(name, value);
        }
        return notes;
    }
}
