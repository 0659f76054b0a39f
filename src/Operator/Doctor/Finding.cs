using Billing.Hosting;

namespace Billing.Operator.Doctor;

/// <summary>Something about a platform that is open, old, unlimited, not backed up or not watched.</summary>
/// <param name="IsSerious">Whether money or its records are at risk now; what only this machine can reach is not,
/// as long as it works.</param>
/// <param name="What">What is wrong, and where.</param>
/// <param name="Setting">The setting, or the command, that mends it.</param>
internal sealed record Finding(bool IsSerious, string What, string Setting)
{
    /// <summary>A finding that is serious if other machines can reach the address.</summary>
    public static Finding At(string address, string what, string setting) =>
        new(
            !ServiceAddresses.IsLoopback(
                address.Contains("://", StringComparison.Ordinal) ? address : "http://" + address),
            $"{address} {what}", setting);

    /// <inheritdoc/>
    public override string ToString() => $"{(IsSerious ? "serious" : "warning")}  {What}  {Setting}";
}
