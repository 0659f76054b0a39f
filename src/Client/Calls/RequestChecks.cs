using Billing.Contracts;

namespace Billing.Client;

/// <summary>Checks requests when they are created.</summary>
internal static class RequestChecks
{
    /// <summary>A request that breaks no rule.</summary>
    /// <param name="request">The request.</param>
    /// <param name="check">Returns the first rule that it breaks, or null.</param>
    /// <param name="parameter">What was given for the field in question.</param>
    /// <exception cref="ArgumentException">It breaks a rule.</exception>
    public static T Checked<T>(T request, Func<T, FieldViolation?> check, string parameter) =>
        check(request) is { } violation ? throw new ArgumentException(violation.ToString(), parameter) : request;
}
