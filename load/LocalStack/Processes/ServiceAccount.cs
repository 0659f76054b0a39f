namespace Billing.LocalStack.Processes;

/// <summary>An unprivileged account of this machine, for servers that refuse to run as root.</summary>
public sealed record ServiceAccount(string Name, uint UserId, uint GroupId)
{
    /// <summary>
    /// Returns the account to run PostgreSQL under: null for an ordinary user, who can run it directly; for root, "postgres"
    /// if it exists, else "nobody".
    /// </summary>
    /// <exception cref="StackException">This process runs as root, and the machine has neither account.</exception>
    public static ServiceAccount? ForPostgres() => !Environment.IsPrivilegedProcess
        ? null
        : Find("postgres") ?? Find("nobody") ?? throw new StackException(
            "PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it under");

    private static ServiceAccount? Find(string name) => (
        from line in File.ReadLines("/etc/passwd")
        let fields = line.Split(':')
        where fields.Length >= 4 && fields[0] == name
        select new ServiceAccount(name, uint.Parse(fields[2]), uint.Parse(fields[3]))).FirstOrDefault();
}
