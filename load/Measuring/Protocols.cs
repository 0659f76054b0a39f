namespace Billing.Measuring;

/// <summary>The protocols that are compared.</summary>
internal static class Protocols
{
    public const string Rpcx = "rpcx";
    public const string Grpc = "grpc";
    public const string Rest = "rest";

    /// <summary>All protocols; each round measures them in this order, rotated by one position
    /// from round to round.</summary>
    public static IReadOnlyList<string> All { get; } = [Rpcx, Grpc, Rest];
}
