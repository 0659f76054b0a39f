using System.Globalization;

namespace Billing.Measuring.Experiments.Comparisons;

/// <summary>A simulated card network whose delays, not processors, limit what a backend can do.</summary>
internal static class SlowCardNetwork
{
    /// <summary>Returns the settings of backends.</summary>
    /// <param name="atATime">Number of requests that a backend has under way at a time.</param>
    /// <param name="paymentMs">Mean duration of a payment in milliseconds; each takes between half and one
    /// and a half of it.</param>
    /// <param name="balanceMs">The same for a balance check; null for the backends' own.</param>
    public static Dictionary<string, string> Settings(int atATime, double paymentMs, double? balanceMs = null)
    {
        var settings = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["Billing__Jitter__ConcurrencyMax"] = atATime.ToString(CultureInfo.InvariantCulture),
            ["Billing__Jitter__PaymentMin"] = Time(paymentMs * 0.5),
            ["Billing__Jitter__PaymentMax"] = Time(paymentMs * 1.5),
        };
        if (balanceMs is { } mean)
        {
            settings["Billing__Jitter__BalanceMin"] = Time(mean * 0.5);
            settings["Billing__Jitter__BalanceMax"] = Time(mean * 1.5);
        }
        return settings;
    }

    /// <summary>Returns a duration as a setting states it.</summary>
    public static string Time(double milliseconds) =>
        TimeSpan.FromMilliseconds(milliseconds).ToString("c", CultureInfo.InvariantCulture);
}
