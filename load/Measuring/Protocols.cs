namespace Billing.Measuring;

/// <summary>The sides of the comparison.</summary>
internal static class Protocols
{
    public const string Rpcx = "rpcx";
    public const string Grpc = "grpc";
    public const string Rest = "rest";

    /// <summary>All of them; runs are made in this order, turned by one place from run to run.</summary>
    public static IReadOnlyList<string> All { get; } = [Rpcx, Grpc, Rest];
}
