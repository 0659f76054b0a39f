using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Postgres;

/// <summary>Finds the programs that keep one of several PostgreSQL servers the primary: Patroni beside each server,
/// and etcd, in which they agree.</summary>
public static class FailoverPrograms
{
    /// <summary>The environment variable with the folder of <c>etcd</c>.</summary>
    public const string EtcdVariable = "BILLING_ETCD_BIN";

    /// <summary>Why there can be no failover on this machine; null if there can.</summary>
    public static string? Missing =>
        FindPatroni() is null ? Refusal("Patroni") : FindEtcd() is null ? Refusal("etcd") : null;

    /// <summary>The path of the Python that has Patroni.</summary>
    /// <exception cref="StackException">It is not installed.</exception>
    public static string Python => FindPatroni() is not null && Tool.Find("python3", "/usr/bin") is { } python
        ? python
        : throw new StackException(Refusal("Patroni"));

    /// <summary>The path of etcd.</summary>
    /// <exception cref="StackException">It is not installed.</exception>
    public static string Etcd => FindEtcd() ?? throw new StackException(Refusal("etcd"));

    private static string SearchPath => Environment.GetEnvironmentVariable("PATH") ?? "";

    private static string? FindPatroni() => Tool.Find("patroni", SearchPath);

    private static string? FindEtcd() =>
        Tool.Find(
            "etcd", Environment.GetEnvironmentVariable(EtcdVariable) is { Length: > 0 } folder ? folder : SearchPath);

    private static string Refusal(string program) =>
        $"{program} is not installed: start with ./billing, which installs it or explains how, or use one "
        + "PostgreSQL server";
}
