using System.ComponentModel.DataAnnotations;
using System.Globalization;
using System.Reflection;
using Billing.Hosting;

namespace Billing.UnitTests.Hosting;

/// <summary>The bounds of every setting that is a time or a number.</summary>
public sealed class SettingBoundsTests
{
    public static TheoryData<string> Bounded => [.. Bounds().Select(bound => bound.Name)];

    [Fact]
    public void Every_setting_that_is_a_time_has_bounds() => Assert.Empty(
        from settings in DeclaredRules.Settings
        from property in settings.Type.GetProperties()
        where property.PropertyType == typeof(TimeSpan) && property.SetMethod is not null
            && property.GetCustomAttribute<TimeRangeAttribute>() is null
        select $"{settings.Section}:{property.Name}");

    [Fact]
    public void Every_default_is_within_its_bounds() => Assert.Empty(
        from bound in Bounds()
        from problem in Problems(bound, null)
        select problem);

    [Theory]
    [MemberData(nameof(Bounded))]
    public void A_value_beyond_its_bounds_is_named_with_both_and_one_at_its_bounds_is_allowed(string name)
    {
        var bound = Bound(name);
        var isExclusive = bound.Range.MinimumIsExclusive;

        Assert.Empty(Problems(bound, Moved(bound, bound.Range.Minimum, isExclusive ? 1 : 0)));
        Assert.Empty(Problems(bound, Moved(bound, bound.Range.Maximum, 0)));
        object?[] values =
        [
            Moved(bound, bound.Range.Minimum, isExclusive ? 0 : -1), Moved(bound, bound.Range.Maximum, 1),
        ];
        foreach (var beyond in values.OfType<object>())
        {
            var expected = bound.Range.ErrorMessage ?? (isExclusive
                ? $"must be above {Text(bound.Range.Minimum)} and at most {Text(bound.Range.Maximum)}; "
                    + $"it is {Quantity.Text(beyond)}."
                : $"must be between {Text(bound.Range.Minimum)} and {Text(bound.Range.Maximum)}; "
                    + $"it is {Quantity.Text(beyond)}.");
            Assert.Equal($"{name} {expected}", Assert.Single(Problems(bound, beyond)));
        }
    }

    [Theory]
    [MemberData(nameof(Bounded))]
    public void The_page_of_settings_states_the_bounds(string name)
    {
        var range = Bound(name).Range;
        var (min, max) = (OnPage(range.Minimum), Constant(name) ?? OnPage(range.Maximum));

        Assert.True(SettingsPage.Ranges.ContainsKey(name), $"docs/operations/settings.md has no row of {name}.");
        Assert.StartsWith(
            range.MinimumIsExclusive ? $"above {min}, at most {max}" : $"{min} to {max}",
            SettingsPage.Ranges[name], StringComparison.Ordinal);
    }

    // A limit that is not another setting.
    private static string? Constant(string name) => (
        from one in DeclaredRules.OfSettings
        where one.Rule.Left.Name == name && !one.Rule.Right.Name.StartsWith("Billing:", StringComparison.Ordinal)
        select Quantity.Text(TimeSpan.FromTicks((long)one.Rule.Right.Value))).SingleOrDefault();

    private static string OnPage(object limit) => limit is 1e15 ? "10^15" : Text(limit) switch
    {
        "0 s" => "0",
        "1 d" => "a day",
        var text => text.Replace(" d", " days", StringComparison.Ordinal),
    };

    private static (string Name, Type Type, PropertyInfo Property, RangeAttribute Range) Bound(string name)
    {
        var bound = Bounds().Single(bound => bound.Name == name);
        // Only then are the limits of a time times.
        Assert.True(bound.Range.IsValid(bound.Property.GetValue(Activator.CreateInstance(bound.Type))));
        return bound;
    }

    private static IEnumerable<(string Name, Type Type, PropertyInfo Property, RangeAttribute Range)> Bounds() =>
        from settings in DeclaredRules.Settings
        from property in settings.Type.GetProperties()
        let range = property.GetCustomAttribute<RangeAttribute>()
        where range is not null
        select ($"{settings.Section}:{property.Name}", settings.Type, property, range);

    // The problems of the one setting: other values have their defaults, so that a rule between two may be broken.
    private static IEnumerable<string> Problems(
        (string Name, Type Type, PropertyInfo Property, RangeAttribute Range) bound, object? value)
    {
        var options = Activator.CreateInstance(bound.Type)!;
        if (value is not null)
        {
            bound.Property.SetValue(options, value);
        }
        return SettingsValidation.Problems(options, bound.Name[..bound.Name.LastIndexOf(':')])
            .Where(problem => problem.StartsWith(bound.Name + " must ", StringComparison.Ordinal));
    }

    // Null if the type of the setting has no such value.
    private static object? Moved(
        (string Name, Type Type, PropertyInfo Property, RangeAttribute Range) bound, object limit, int by)
    {
        if (limit is TimeSpan time)
        {
            return time + TimeSpan.FromTicks(by);
        }
        var (type, number) = (bound.Property.PropertyType, Convert.ToDecimal(limit, CultureInfo.InvariantCulture));
        return type == typeof(short) && number + by > short.MaxValue
            ? null
            : Convert.ChangeType(
                number + (type == typeof(double) ? by / 1000m : by), type, CultureInfo.InvariantCulture);
    }

    private static string Text(object limit) =>
        Quantity.Text(limit is TimeSpan ? limit : Convert.ToDecimal(limit, CultureInfo.InvariantCulture));
}
