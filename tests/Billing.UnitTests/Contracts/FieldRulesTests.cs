using System.Globalization;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.UnitTests.Testing;
using Billing.V1;

namespace Billing.UnitTests.Contracts;

public sealed class FieldRulesTests
{
    [Fact]
    public void Valid_commands_pass() => Generate.Command.Holds(command => Assert.Null(WireFormat.Refusal(command)));

    [Fact]
    public void Valid_amounts_of_callers_pass() => Generate.CallersAmount.Holds(amount =>
    {
        var payment = Samples.Payment();
        payment.Amount = amount;
        Assert.Null(FieldRules.Check(payment));
        Assert.Null(FieldRules.Check(LimitOf(amount)));
    });

    // Proxies of other releases take other currencies, and what they took has to be processed.
    [Theory]
    [InlineData("USE", 1, 0)]
    [InlineData("BGN", 1, 0)]
    [InlineData("JPY", 0, 1)]
    public void A_command_may_be_in_a_currency_that_callers_may_not_use(string currency, long units, int nanos)
    {
        var amount = new Money { CurrencyCode = currency, Units = units, Nanos = nanos };
        var payment = Samples.Payment();
        payment.Amount = amount;
        Assert.NotNull(FieldRules.Check(payment));
        Assert.Null(FieldRules.CheckCommand(payment));
        Assert.NotNull(FieldRules.Check(LimitOf(amount)));
        Assert.Null(FieldRules.CheckCommand(LimitOf(amount)));
    }

    [Theory]
    [InlineData("")]
    [InlineData("42")]
    [InlineData("00000000-0000-0000-0000-000000000000")]
    [InlineData("0123456789abcdef0123456789abcdef")]
    [InlineData("{01234567-89ab-cdef-0123-456789abcdef}")]
    [InlineData("01234567-89ab-cdef-0123-456789abcdeg")]
    [InlineData(" 01234567-89ab-cdef-0123-456789abcdef")]
    [InlineData("01234567-89ab-cdef-0123-456789abcdef\n")]
    [InlineData("+1234567-89ab-cdef-0123-456789abcdef")]
    [InlineData("0x234567-89ab-cdef-0123-456789abcdef")]
    public void A_transaction_id_must_be_a_uuid_of_36_characters(string id)
    {
        var request = Samples.Payment();
        request.TransactionId = id;
        AssertViolation("transaction_id", "UUID", FieldRules.Check(request));
    }

    [Fact]
    public void Capital_letters_in_a_transaction_id_are_allowed()
    {
        var request = Samples.Payment();
        request.TransactionId = Samples.TransactionId.ToUpperInvariant();
        Assert.Null(FieldRules.Check(request));
    }

    [Theory]
    [InlineData("", "is missing")]
    [InlineData("acct 42", "may have only the characters")]
    [InlineData("acct/42", "may have only the characters")]
    [InlineData("acct,42", "may have only the characters")]
    [InlineData("Ämter", "may have only the characters")]
    [InlineData("acct\n", "may have only the characters")]
    public void An_account_id_may_contain_only_the_allowed_characters(string id, string problem)
    {
        AssertViolation("account_id", problem, FieldRules.Check(Samples.Payment(id)));
        AssertViolation("account_id", problem, RequestKinds.Balance.Check(Samples.Balance(id)));
    }

    [Fact]
    public void An_account_id_has_at_most_64_characters()
    {
        Assert.Null(FieldRules.Check(Samples.Payment(new string('a', 64))));
        AssertViolation(
            "account_id", "at most 64 characters; it has 65", FieldRules.Check(Samples.Payment(new string('a', 65))));
    }

    [Theory]
    [InlineData(PaymentType.Unspecified, "is missing")]
    [InlineData((PaymentType)99, "it is 99")]
    [InlineData((PaymentType)(-1), "it is -1")]
    public void A_payment_type_must_be_known(PaymentType type, string problem)
    {
        var payment = Samples.Payment();
        payment.PaymentType = type;
        var balance = Samples.Balance();
        balance.PaymentType = type;
        AssertViolation("payment_type", problem, FieldRules.Check(payment));
        AssertViolation("payment_type", problem, RequestKinds.Balance.Check(balance));
    }

    [Fact]
    public void An_amount_is_required()
    {
        var request = Samples.Payment();
        request.Amount = null;
        AssertViolation("amount", "is missing", FieldRules.Check(request));
    }

    [Theory]
    [InlineData("")]
    [InlineData("US")]
    [InlineData("USDX")]
    [InlineData("usd")]
    [InlineData("U1D")]
    [InlineData("ÜSD")]
    public void A_currency_must_be_three_capital_letters(string currency)
    {
        var request = Samples.Payment();
        request.Amount.CurrencyCode = currency;
        AssertViolation("amount.currency_code", "three capital letters", FieldRules.Check(request));
        AssertViolation("amount.currency_code", "three capital letters", FieldRules.CheckCommand(request));
    }

    [Theory]
    [InlineData("USE")]
    [InlineData("HRK")] // withdrawn
    [InlineData("CHE")] // a fund
    [InlineData("XAU")] // gold
    [InlineData("XTS")] // reserved for tests
    [InlineData("XXX")] // no currency
    public void A_currency_must_be_one_of_ISO_4217_that_is_in_use(string currency)
    {
        var request = Samples.Payment();
        request.Amount.CurrencyCode = currency;
        AssertViolation("amount.currency_code", $"in use; it is '{currency}'", FieldRules.Check(request));
        AssertViolation("limit.currency_code", "in use", FieldRules.Check(LimitOf(request.Amount)));
    }

    [Theory]
    [InlineData("JPY", 0, 500_000_000, "multiple of 1000000000, since JPY has 0 decimals; it is 500000000")]
    [InlineData("USD", 2, 5_000_000, "multiple of 10000000, since USD has 2 decimals; it is 5000000")]
    [InlineData("KWD", 3, 500_000, "multiple of 1000000, since KWD has 3 decimals; it is 500000")]
    [InlineData("UYW", 4, 50_000, "multiple of 100000, since UYW has 4 decimals; it is 50000")]
    public void An_amount_must_have_no_more_decimals_than_its_currency(
        string currency, int decimals, int nanos, string problem)
    {
        var request = Samples.Payment();
        request.Amount = new Money { CurrencyCode = currency, Units = 1, Nanos = nanos };
        AssertViolation("amount.nanos", problem, FieldRules.Check(request));
        AssertViolation("limit.nanos", problem, FieldRules.Check(LimitOf(request.Amount)));
        request.Amount = (1 + (decimal)Math.Pow(10, -decimals)).ToMoney(currency);
        Assert.Null(FieldRules.Check(request));
    }

    [Theory]
    [InlineData(1, 1_000_000_000, "amount.nanos", "between -999999999 and 999999999")]
    [InlineData(1, -1_000_000_000, "amount.nanos", "between -999999999 and 999999999")]
    [InlineData(0, int.MaxValue, "amount.nanos", "between -999999999 and 999999999")]
    [InlineData(0, int.MinValue, "amount.nanos", "between -999999999 and 999999999")]
    [InlineData(1, -1, "amount.nanos", "opposite sign")]
    [InlineData(-1, 1, "amount.nanos", "opposite sign")]
    [InlineData(0, 0, "amount", "more than zero; it is 0")]
    [InlineData(0, -1, "amount", "more than zero; it is -0.000000001")]
    [InlineData(-5, -500_000_000, "amount", "more than zero; it is -5.5")]
    [InlineData(long.MinValue, 0, "amount", "more than zero")]
    [InlineData(1_000_000_000, 1, "amount.units", "at most 1000000000")]
    [InlineData(long.MaxValue, 999_999_999, "amount.units", "at most 1000000000")]
    public void An_amount_must_be_within_its_limits(long units, int nanos, string field, string problem)
    {
        var request = Samples.Payment();
        request.Amount = Samples.Dollars(units, nanos);
        AssertViolation(field, problem, FieldRules.Check(request));
    }

    [Theory]
    [InlineData(0, 10_000_000)]
    [InlineData(1_000_000_000, 0)]
    [InlineData(999_999_999, 990_000_000)]
    public void The_smallest_and_the_largest_amounts_pass(long units, int nanos)
    {
        var request = Samples.Payment();
        request.Amount = Samples.Dollars(units, nanos);
        Assert.Null(FieldRules.Check(request));
    }

    [Theory]
    [InlineData("", "at most 100 characters; it has 101")]
    [InlineData("order\n7", "must not have control characters")]
    [InlineData("order\u0085", "must not have control characters")]
    [InlineData("order\u2028", "must not have control characters")]
    [InlineData("order\u202E", "must not have control characters")]
    [InlineData("order\u2066", "must not have control characters")]
    public void A_reference_and_the_values_of_metadata_are_short_texts_of_one_line(string text, string problem)
    {
        text = text.Length == 0 ? new string('x', FieldRules.NoteLengthMax + 1) : text;
        var (referring, noting) = (Samples.Payment(), Samples.Payment());
        referring.Notes = new PaymentNotes { Reference = text };
        noting.Notes = new PaymentNotes { Metadata = { ["shop"] = text } };

        AssertViolation("notes.reference", problem, FieldRules.Check(referring));
        AssertViolation("notes.metadata[shop]", problem, FieldRules.Check(noting));
        Assert.DoesNotContain(
            text, $"{FieldRules.Check(referring)} {FieldRules.Check(noting)}", StringComparison.Ordinal);
    }

    [Fact]
    public void A_character_of_two_units_in_UTF_16_counts_once()
    {
        var most = string.Concat(Enumerable.Repeat("\U0001F600", FieldRules.NoteLengthMax));
        var request = Samples.Payment();
        request.Notes = new PaymentNotes { Reference = most, Metadata = { ["shop"] = most } };
        Assert.Null(FieldRules.Check(request));

        request.Notes.Reference += "a";
        AssertViolation("notes.reference", "must have at most 100 characters; it has 101", FieldRules.Check(request));
    }

    [Theory]
    [InlineData(8, "shop", null)]
    [InlineData(9, "shop", "must have at most 8 pairs; it has 9")]
    [InlineData(1, "", "must have names of 1 to 40 of the characters A-Z a-z 0-9 . _ -; one is ''")]
    [InlineData(1, "two words", "one is 'two words'")]
    [InlineData(1, "Geschäft", "one is 'Geschäft'")]
    [InlineData(1, "12345678901234567890123456789012345678901", "must have names of 1 to 40")]
    [InlineData(1, "A-z.0_1234567890123456789012345678901234", null)]
    public void Metadata_are_a_few_pairs_with_plain_names(int pairs, string name, string? problem)
    {
        var request = Samples.Payment();
        request.Notes = new PaymentNotes { Metadata = { [name] = "" } };
        for (var n = 1; n < pairs; n++)
        {
            request.Notes.Metadata.Add(
                string.Create(CultureInfo.InvariantCulture, $"n{n}"), new string('ü', FieldRules.NoteLengthMax));
        }

        if (problem is null)
        {
            Assert.Null(FieldRules.Check(request));
            return;
        }
        AssertViolation("notes.metadata", problem, FieldRules.Check(request));
    }

    [Fact]
    public void A_min_version_must_not_be_negative()
    {
        var request = Samples.Balance();
        request.MinVersion = -1;
        AssertViolation("min_version", "must not be negative; it is -1", RequestKinds.Balance.Check(request));
        request.MinVersion = 0;
        Assert.Null(RequestKinds.Balance.Check(request));
    }

    [Fact]
    public void A_long_value_is_truncated_in_the_message()
    {
        var violation = FieldRules.Check(Samples.Payment(new string('/', 64)));
        Assert.Contains(new string('/', 40) + "...'", violation!.Problem, StringComparison.Ordinal);
    }

    [Fact]
    public void A_message_never_ends_in_half_a_character()
    {
        var violation = FieldRules.Check(Samples.Payment(new string('a', 39) + "\U0001F600 and more"));
        Assert.Contains(new string('a', 39) + "...'", violation!.Problem, StringComparison.Ordinal);
    }

    [Fact]
    public void The_first_invalid_field_is_reported()
    {
        var request = new MakePaymentRequest();
        Assert.Equal("transaction_id is missing; it must be a UUID", FieldRules.Check(request)?.ToString());
    }

    private static SetCreditLimitRequest LimitOf(Money limit) => new()
    {
        TransactionId = Samples.TransactionId,
        AccountId = "acct-42",
        PaymentType = PaymentType.Visa,
        Limit = limit,
    };

    private static void AssertViolation(string field, string problem, FieldViolation? violation)
    {
        Assert.NotNull(violation);
        Assert.Equal(field, violation.Field);
        Assert.Contains(problem, violation.Problem, StringComparison.Ordinal);
        Assert.StartsWith(field + " ", violation.ToString(), StringComparison.Ordinal);
    }
}
