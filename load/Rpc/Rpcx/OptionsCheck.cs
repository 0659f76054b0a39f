using Billing.Hosting;

namespace Billing.Rpc.Rpcx;

/// <summary>Validates settings where no host has validated them.</summary>
internal static class OptionsCheck
{
    public static void ThrowIfInvalid(object options, string section, IEnumerable<string> problems, string parameter)
    {
        var all = SettingsValidation.Problems(options, section).Concat(problems).ToList();
        if (all.Count > 0)
        {
            throw new ArgumentException(string.Join(' ', all), parameter);
        }
    }
}
