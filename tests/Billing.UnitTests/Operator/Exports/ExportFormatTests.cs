using System.Globalization;
using System.Text;
using System.Text.Json;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.Operator.Exports;
using Billing.UnitTests.Testing;
using Billing.V1;
using FsCheck;
using FsCheck.Fluent;

namespace Billing.UnitTests.Operator.Exports;

public sealed class ExportFormatTests
{
    private static readonly DateTime StoredAt = new(2026, 1, 31, 23, 59, 59, 999, 123, DateTimeKind.Utc);

    // Whatever a token may have as its subject, and more: formulas, quotes, separators, ends of lines,
    // text of any script.
    private static readonly Gen<string> Names =
        from parts in Gen.Elements(
            "=", "+", "-", "@", "'", "\"", ",", ";", "\r", "\n", "\t", " ", "\\", "\u2028", "a",
            "=HYPERLINK(\"http://x\")", "Zoë", "\U0001F4B3", "</script>")
            .NonEmptyListOf()
        select string.Concat(parts);

    private static readonly Gen<ExportedEvent> Events =
        from id in Generate.TransactionId
        from type in Generate.PaymentType
        from account in Generate.AccountId
        from version in Gen.Choose(1, int.MaxValue)
        from money in Gen.OneOf(Generate.Amount, Generate.CallersAmount)
        from subject in Names
        from client in Names
        from sender in Gen.Elements(null, new Sender(subject), new Sender(subject, client))
        let amount = money.Units + (money.Nanos / 1e9m)
        from fact in Gen.Elements<AccountEvent>(
            new PaymentAccepted(id, amount, money.CurrencyCode, StoredAt) { Balance = amount },
            new PaymentDeclined(id, amount, money.CurrencyCode, DeclineReason.CurrencyMismatch, StoredAt)
            {
                Balance = 0.5m,
                KeptIn = "USD",
            },
            new PaymentRefunded(
                id, Guid.Parse(Samples.TransactionId), amount, money.CurrencyCode,
                StoredAt)
            { Charged = amount, Refunded = amount, Held = 0, Balance = 0 },
            new CreditLimitChanged(id, amount, money.CurrencyCode, StoredAt) { Balance = 0 })
        select ExportedEvent.Of(StoredAt, StreamId.For(type, account), version, fact with { By = sender });

    [Fact]
    public void An_event_is_read_from_CSV_as_it_was_written() => Events.NonEmptyListOf().Holds(events =>
    {
        var lines = ReadCsv(Written(ExportFormat.Csv, [.. events]));

        Assert.Equal(ExportedEvent.Columns.Select(column => column.Name), lines[0]);
        Assert.Equal(events.Count + 1, lines.Count);
        foreach (var (e, line) in events.Zip(lines.Skip(1)))
        {
            Assert.Equal(
                ExportedEvent.Columns.Select(column => column.Value(e) ?? ""),
                line.Zip(
                    ExportedEvent.Columns,
                    (cell, column) => column.IsFromCallers && cell.StartsWith('\'') ? cell[1..] : cell));
        }
    });

    [Fact]
    public void An_event_is_read_from_a_line_of_JSON_as_it_was_written() => Events.NonEmptyListOf().Holds(events =>
    {
        var lines = Written(ExportFormat.JsonLines, [.. events]).Split('\n');

        Assert.Equal("", lines[^1]);
        Assert.Equal(events.Count, lines.Length - 1);
        foreach (var (e, line) in events.Zip(lines))
        {
            using var json = JsonDocument.Parse(line);
            Assert.Equal(
                ExportedEvent.Columns.Select(column => (column.Name, column.Value(e))),
                json.RootElement.EnumerateObject().Select(
                    member => (member.Name, member.Value.ValueKind == JsonValueKind.Number
                        ? member.Value.GetRawText()
                        : member.Value.GetString())));
        }
    });

    [Fact]
    public void No_cell_that_callers_have_chosen_is_a_formula_for_a_spreadsheet() => Events.Holds(e =>
    {
        var cells = ReadCsv(Written(ExportFormat.Csv, e))[1];

        Assert.DoesNotContain(
            cells, cell => cell.Length > 0 && "=+-@\t\r\n".Contains(cell[0], StringComparison.Ordinal));
    });

    [Theory]
    [InlineData("USD", "10.5", "10.50")]
    [InlineData("USD", "10.500", "10.50")]
    [InlineData("USD", "0.123456789", "0.123456789")]
    [InlineData("JPY", "1000", "1000")]
    [InlineData("KWD", "1.5", "1.500")]
    [InlineData("XXX", "1.50", "1.5")]
    [InlineData("USD", "9223372036854775807.999999999", "9223372036854775807.999999999")]
    public void An_amount_is_exact_and_has_the_decimals_of_its_currency_in_any_culture(
        string currency, string amount, string written)
    {
        var culture = CultureInfo.CurrentCulture;
        try
        {
            CultureInfo.CurrentCulture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
            CultureInfo.CurrentCulture.NumberFormat.NumberDecimalSeparator = ",";
            CultureInfo.CurrentCulture.NumberFormat.NumberGroupSeparator = ".";
            var fact = new PaymentAccepted(Guid.NewGuid(), decimal.Parse(
                amount, CultureInfo.InvariantCulture), currency, StoredAt)
            { Balance = 1 };
            var line = ReadCsv(Written(ExportFormat.Csv, ExportedEvent.Of(StoredAt, "visa/a", 1234, fact)))[1];

            Assert.Equal(["1234", "payment_accepted"], line[3..5]);
            Assert.Equal(written, line[6]);
        }
        finally
        {
            CultureInfo.CurrentCulture = culture;
        }
    }

    [Fact]
    public void A_line_says_what_was_stored_when_for_whom()
    {
        var fact = new PaymentDeclined(
            Guid.Parse(Samples.TransactionId), 7.5m, "EUR",
            DeclineReason.CurrencyMismatch, new DateTimeOffset(StoredAt.AddTicks(-7)))
        {
            By = new Sender("=1+1", "web"),
            Balance = 12,
            KeptIn = "USD",
            OnHold = 2.5m,
            Status = AccountStatus.Frozen,
            Notes = new Notes("=order", new Dictionary<string, string> { ["shop"] = "\"Z\"", ["line"] = "1" }),
        };

        var e = ExportedEvent.Of(StoredAt, "visa/-acct", 3, fact);

        Assert.Equal(
            "stored_at,payment_type,account_id,version,kind,transaction_id,amount,currency,balance,balance_currency,"
                + "decline_reason,decided_at,subject,client_id,payment_id,on_hold,reference,metadata,account_status\r\n"
            + "2026-01-31T23:59:59.9991230Z,visa,'-acct,3,payment_declined,01234567-89ab-cdef-0123-456789abcdef,7.50,"
            + "EUR,12.00,USD,CURRENCY_MISMATCH,2026-01-31T23:59:59.9991223Z,'=1+1,web,,2.50,'=order,\"{\"\"line\"\":"
            + "\"\"1\"\",\"\"shop\"\":\"\"\\u0022Z\\u0022\"\"}\",ACCOUNT_STATUS_FROZEN\r\n",
            Written(ExportFormat.Csv, e));
        Assert.Equal(
            """{"stored_at":"2026-01-31T23:59:59.9991230Z","payment_type":"visa","account_id":"-acct","version":"""
                + """3,"kind":"payment_declined","transaction_id":"01234567-89ab-cdef-0123-456789abcdef","amount":"7."""
                + """50","currency":"EUR","balance":"12.00","balance_currency":"USD","decline_reason":"CURRENCY_"""
                + """MISMATCH","decided_at":"2026-01-31T23:59:59.9991223Z","subject":"=1+1","client_"""
                + """id":"web","payment_id":null,"on_hold":"2.50","reference":"=order","metadata":"""
                + """{"line":"1","shop":"\u0022Z\u0022"},"account_status":"ACCOUNT_STATUS_FROZEN"}"""
                + "\n",
            Written(ExportFormat.JsonLines, e));
    }

    private static string Written(ExportFormat format, params IEnumerable<ExportedEvent> events)
    {
        using var text = new StringWriter();
        text.Write(format.Header);
        foreach (var e in events)
        {
            format.Write(text, e);
        }
        return text.ToString();
    }

    /// <summary>Reads CSV as RFC 4180 defines it: every line ends with CR LF.</summary>
    private static List<List<string>> ReadCsv(string text)
    {
        var (lines, line, cell) = (new List<List<string>>(), new List<string>(), new StringBuilder());
        for (var i = 0; i < text.Length;)
        {
            if (text[i] == '"')
            {
                for (i++; text[i] != '"' || (i + 1 < text.Length && text[i + 1] == '"'); i++)
                {
                    cell.Append(text[i]);
                    i += text[i] == '"' ? 1 : 0;
                }
                i++;
                Assert.True(text[i] is ',' or '\r', "A quoted cell goes on after its end.");
            }
            else if (text[i] is ',' or '\r')
            {
                line.Add(cell.ToString());
                cell.Clear();
                if (text[i] == '\r')
                {
                    Assert.Equal('\n', text[++i]);
                    lines.Add(line);
                    line = [];
                }
                i++;
            }
            else
            {
                Assert.NotEqual('\n', text[i]);
                cell.Append(text[i++]);
            }
        }
        Assert.Empty(line);
        return lines;
    }
}
