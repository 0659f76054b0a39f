using Microsoft.Extensions.Options;

namespace Billing.Hosting;

/// <summary>Validates settings that attributes cannot check, such as two that limit each other.</summary>
/// <param name="problems">Returns the errors, each as a sentence that names the setting.</param>
public sealed class ProblemValidation<T>(Func<T, IEnumerable<string>> problems) : IValidateOptions<T>
    where T : class
{
    /// <inheritdoc/>
    public ValidateOptionsResult Validate(string? name, T options)
    {
        var found = problems(options).ToList();
        return found.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(found);
    }
}
