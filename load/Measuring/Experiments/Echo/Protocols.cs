namespace Billing.Measuring.Experiments.Echo;

/// <summary>The protocols of the echo servers.</summary>
internal static class Protocols
{
    public const string Rpcx = "rpcx";
    public const string Grpc = "grpc";
    public const string Rest = "rest";

    /// <summary>All protocols.</summary>
    public static IReadOnlyList<string> All { get; } = [Rpcx, Grpc, Rest];
}
