using System.ComponentModel.DataAnnotations;

namespace Billing.Rpc.Rpcx;

/// <summary>Validates settings where no host has validated them.</summary>
internal static class OptionsCheck
{
    public static void ThrowIfInvalid(object options, IEnumerable<string> problems, string parameter)
    {
        var found = new List<ValidationResult>();
        Validator.TryValidateObject(options, new ValidationContext(options), found, validateAllProperties: true);
        var all = found.Select(result => result.ErrorMessage).Concat(problems).ToList();
        if (all.Count > 0)
        {
            throw new ArgumentException(string.Join(' ', all), parameter);
        }
    }
}
