namespace Billing.Rehearsal.Listening;

/// <summary>The ports of machines where nothing is encrypted, each with its reason. What must not be readable must not
/// be there either. A port that has become encrypted has to go from here.</summary>
internal static class ClearPorts
{
    public static readonly IReadOnlyDictionary<int, string> All = new Dictionary<int, string>
    {
        [5001] = "backends show their health and metrics, which have no account",
        [9100] = "the node exporter shows figures of its machine",
    };
}
