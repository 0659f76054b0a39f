using System.Reflection;
using Billing.Client;

namespace Billing.UnitTests.Client;

/// <summary>The calls of the SDK's clients that take a deadline, for tests of what holds for each of them.</summary>
internal static class SdkCalls
{
    private const string Deadline = "deadline";

    /// <summary>The calls of a client.</summary>
    public static IEnumerable<MethodInfo> Of(object client) =>
        (client is BillingAdminClient ? typeof(BillingAdminClient) : typeof(BillingClient))
            .GetMethods(BindingFlags.Public | BindingFlags.Instance | BindingFlags.DeclaredOnly)
            .Where(method => method.GetParameters().Any(parameter => parameter.Name == Deadline));

    /// <summary>Makes a call, with valid arguments.</summary>
    public static Task MakeAsync(object client, MethodInfo call, TimeSpan? deadline = null) => (Task)call.Invoke(
        client, BindingFlags.DoNotWrapExceptions, null,
        [.. call.GetParameters().Select(parameter => parameter.Name == Deadline ? deadline : ValueOf(parameter))],
        null)!;

    private static object? ValueOf(ParameterInfo parameter) =>
        parameter.HasDefaultValue ? parameter.DefaultValue : ValueOf(parameter.ParameterType);

    // A request has a constructor that makes a new id, which is the shortest.
    private static object ValueOf(Type type) =>
        type == typeof(CardAccount) ? new CardAccount(CardNetwork.Visa, "a")
        : type == typeof(Amount) ? new Amount(1, "USD")
        : type == typeof(Guid) ? Guid.NewGuid()
        : type == typeof(long) ? 1L
        : type == typeof(DateTimeOffset) ? DateTimeOffset.UnixEpoch
        : type.IsEnum ? Enum.GetValues(type).GetValue(1)!
        : type.GetConstructors().MinBy(constructor => constructor.GetParameters().Length) is { } shortest
            ? shortest.Invoke([.. shortest.GetParameters().Select(ValueOf)])
        : throw new NotSupportedException($"{type} has no value here.");
}
