using System.Globalization;
using System.Text;
using System.Text.Json;
using Billing.Auditing.Exports;
using Billing.Backends.Writes;
using Billing.UnitTests.Testing;
using FsCheck;
using FsCheck.Fluent;

namespace Billing.UnitTests.Auditing.Exports;

public sealed class ExportManifestTests : IDisposable
{
    private static readonly DateOnly Day = new(2026, 1, 31);

    private static readonly Gen<(string Kind, string Currency, decimal Amount)> Facts =
        from kind in Gen.Elements("accepted", "declined", "limit_changed")
        from money in Gen.OneOf(Generate.Amount, Generate.CallersAmount)
        select (kind, money.CurrencyCode, money.Units + (money.Nanos / 1e9m));

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-manifest-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void The_manifest_of_a_folder_is_read_as_it_was_written_and_its_totals_are_exact() =>
        Facts.ListOf().Holds(facts =>
        {
            var written = new ExportManifest([Of(Day, facts), Of(Day.AddDays(1), [])]);
            File.WriteAllBytes(Path.Combine(_folder.FullName, ExportManifest.FileName), written.ToJson());

            var read = ExportManifest.Read(_folder.FullName);

            Assert.Equal(Encoding.UTF8.GetString(written.ToJson()), Encoding.UTF8.GetString(read.ToJson()));
            Assert.Equal(facts.Count, read.Days[0].Kinds.Values.Sum());
            foreach (var sum in facts.GroupBy(fact => (fact.Currency, fact.Kind)))
            {
                Assert.Equal(
                    sum.Sum(fact => fact.Amount),
                    decimal.Parse(read.Days[0].Sums[sum.Key.Currency][sum.Key.Kind], CultureInfo.InvariantCulture));
            }
            foreach (var sum in facts.GroupBy(fact => fact.Currency))
            {
                Assert.Equal(
                    sum.Sum(fact => fact.Amount),
                    decimal.Parse(read.Days[0].OnHold[sum.Key], CultureInfo.InvariantCulture));
            }
        });

    [Fact]
    public void A_folder_without_a_manifest_has_no_days() => Assert.Empty(ExportManifest.Read(_folder.FullName).Days);

    [Theory]
    [InlineData("")]
    [InlineData("{\"days\":[{}]}")]
    [InlineData("{\"days\":null}")]
    public void A_manifest_that_cannot_be_read_is_named(string text)
    {
        var file = Path.Combine(_folder.FullName, ExportManifest.FileName);
        File.WriteAllText(file, text);

        var failure = Assert.Throws<FormatException>(() => ExportManifest.Read(_folder.FullName));

        Assert.StartsWith($"'{file}' is not the manifest of an export: ", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_day_that_is_written_again_replaces_its_former_state_and_days_are_in_order()
    {
        var manifest = new ExportManifest([]).With(Of(Day.AddDays(1), [])).With(Of(Day, []))
            .With(Of(Day, [("accepted", "USD", 1)]));

        Assert.Equal([(Day, 1), (Day.AddDays(1), 0)], manifest.Days.Select(day => (day.Date, day.Events)));
    }

    [Fact]
    public void Whatever_differs_between_an_export_and_the_store_is_found()
    {
        var days = new ExportedDays(
            new ExportManifest([Of(Day, [("accepted", "USD", 1.5m), ("declined", "EUR", 7)]), Of(Day.AddDays(1), [])]));
        days.Add(new DateTime(2026, 1, 31, 0, 0, 0, DateTimeKind.Utc), "accepted", "USD", 1.25m, "USD", 0.75m);
        days.Add(new DateTime(2026, 2, 1, 23, 59, 59, DateTimeKind.Utc), "limit_changed", "JPY", 10, "JPY", 4);
        days.Add(new DateTime(2026, 2, 2, 0, 0, 0, DateTimeKind.Utc), "accepted", "USD", 3, "USD", 3);

        Assert.Equal(
            [
                "2026-01-31: 1 declined in the export, 0 in the store",
                "2026-01-31: 7.00 EUR declined in the export, nothing in the store",
                "2026-01-31: 1.50 USD accepted in the export, 1.25 in the store",
                "2026-01-31: 7.00 EUR on hold in the export, nothing in the store",
                "2026-01-31: 1.50 USD on hold in the export, 0.75 in the store",
                "2026-02-01: 0 limit_changed in the export, 1 in the store",
                "2026-02-01: nothing JPY limit_changed in the export, 10 in the store",
                "2026-02-01: nothing JPY on hold in the export, 4 in the store",
            ],
            days.Differences());
    }

    [Fact]
    public void An_event_is_of_the_same_kind_in_all_its_shapes() => Assert.All(
        WriteKinds.Events,
        kind => Assert.All(
            kind.Names,
            name => Assert.Equal(
                JsonNamingPolicy.SnakeCaseLower.ConvertName($"{kind.EntryType}"), EventTotals.KindOf(name))));

    private static ExportedDay Of(DateOnly day, IEnumerable<(string Kind, string Currency, decimal Amount)> facts)
    {
        var totals = new EventTotals();
        foreach (var (kind, currency, amount) in facts)
        {
            totals.Add(kind, currency, amount, currency, amount);
        }
        return new ExportedDay(
            day, totals.Events, totals.Kinds, totals.Sums, totals.OnHold, null,
            new ExportedPosition("2026-01-31T23:59:59.0000000Z", "visa/a", 7), [new("events.csv", "ab", 3)]);
    }
}
