using System.ComponentModel.DataAnnotations;
using System.Globalization;
using System.Reflection;
using System.Text.RegularExpressions;
using Billing.Hosting;

namespace Billing.UnitTests.Hosting;

/// <summary>The page of settings: that it states what the services check.</summary>
public sealed partial class SettingsPageTests
{
    private static readonly Dictionary<string, string> Ranges = ReadPage();

    /// <summary>The bounded settings, and their bounds as the page has to state them.</summary>
    public static TheoryData<string, string> Bounded =>
    [
        .. from settings in DeclaredRules.Settings
           from property in settings.Type.GetProperties()
           from range in property.GetCustomAttributes<RangeAttribute>()
           let setting = $"{settings.Section}:{property.Name}"
           select (setting, Bounds(range, Constant(setting))),
    ];

    [Theory]
    [MemberData(nameof(Bounded))]
    public void The_page_states_the_bounds_of_a_setting(string setting, string bounds)
    {
        Assert.True(Ranges.ContainsKey(setting), $"docs/operations/settings.md has no row of {setting}.");
        Assert.StartsWith(bounds, Ranges[setting], StringComparison.Ordinal);
    }

    // A limit that is not another setting.
    private static string? Constant(string setting) => (
        from one in DeclaredRules.OfSettings
        where one.Rule.Left.Name == setting && !one.Rule.Right.Name.StartsWith("Billing:", StringComparison.Ordinal)
        select Quantity.Text(TimeSpan.FromTicks((long)one.Rule.Right.Value))).SingleOrDefault();

    private static string Bounds(RangeAttribute range, string? max)
    {
        var min = Text(range.Minimum);
        max ??= Text(range.Maximum);
        return range.MinimumIsExclusive ? $"above {min}, at most {max}" : $"{min} to {max}";
    }

    private static string Text(object limit) => limit is string time
        ? Quantity.Text(TimeSpan.Parse(time, CultureInfo.InvariantCulture)) switch
        {
            "0 s" => "0",
            "1 d" => "a day",
            var text => text.Replace(" d", " days", StringComparison.Ordinal),
        }
        : limit is 1e15 ? "10^15" : string.Create(CultureInfo.InvariantCulture, $"{limit}");

    private static Dictionary<string, string> ReadPage()
    {
        var ranges = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (var row in File.ReadLines(Path.Combine(Repository.Root, "docs/operations/settings.md")))
        {
            if (!row.StartsWith("| `Billing:", StringComparison.Ordinal))
            {
                continue;
            }
            var cells = row.Trim('|').Split('|');
            // `Billing:Jitter:PaymentMin`, `PaymentMax`: the others are in the section of the first.
            var names = Quoted().Matches(cells[0]).Select(match => match.Groups[1].Value).ToList();
            var section = names[0][..(names[0].LastIndexOf(':') + 1)];
            names.ForEach(name => ranges.Add(section + name.Split(':')[^1], cells[2].Trim()));
        }
        return ranges;
    }

    [GeneratedRegex("`([^`]+)`")]
    private static partial Regex Quoted();
}
