using System.CommandLine;
using System.Globalization;

namespace Billing.Cli.Arguments;

/// <summary>Options that are durations, such as 500ms, 30s, 5m or 1h; a number without a unit is in seconds.</summary>
internal static class DurationFlag
{
    private static readonly TimeSpan Max = TimeSpan.FromHours(24);

    public static Option<TimeSpan> During(string description, TimeSpan fallback) =>
        Create("--during", description, fallback, TimeSpan.FromSeconds(1));

    public static Option<TimeSpan> WarmUp(string description, TimeSpan fallback) =>
        Create("--warm-up", description + "; 0 for none", fallback, TimeSpan.Zero);

    private static Option<TimeSpan> Create(
        string name, string description, TimeSpan fallback, TimeSpan min) => new(name)
        {
            Description = description,
            DefaultValueFactory = _ => fallback,
            HelpName = "30s|5m|1h",
            CustomParser = result =>
            {
                var text = result.Tokens[0].Value;
                if (!TryParse(text, out var time) || time < min)
                {
                    result.AddError(
                        $"{name} must be a time such as 30s, 5m or 1h, from {min.TotalSeconds:0}s to "
                            + $"{Max.TotalHours:0}h; "
                        + $"it is '{text}'.");
                }
                return time;
            },
        };

    private static bool TryParse(string text, out TimeSpan time)
    {
        var number = text.TrimEnd('m', 's', 'h');
        var seconds = text[number.Length..] switch
        {
            "ms" => 0.001,
            "s" or "" => 1,
            "m" => 60,
            "h" => 3600,
            _ => 0,
        };
        var isTime = double.TryParse(
            number, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var value)
            && seconds > 0 && value * seconds <= Max.TotalSeconds;
        time = isTime ? TimeSpan.FromSeconds(value * seconds) : TimeSpan.Zero;
        return isTime;
    }
}
