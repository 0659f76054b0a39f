using System.Collections.Frozen;
using System.Text.Json.Nodes;
using Billing.LocalStack.Processes;
using Billing.Operator.Credentials;
using Npgsql;

namespace Billing.LocalStack.Postgres;

/// <summary>The certificate of a server.</summary>
/// <param name="Pem">Its certificate and key in PEM.</param>
/// <param name="CaFile">The file of the certificate authority, for clients.</param>
public sealed record ServerCertificate(string Pem, string CaFile);

/// <summary>What the PostgreSQL servers of stacks have in common, one alone or several that replicate.</summary>
internal static class PostgresSettings
{
    public const string UserName = "billing";
    private const string Database = "billing";

    /// <summary>The variables by which clients of PostgreSQL find servers and passwords:
    /// those of the user's shell are for other servers.</summary>
    public static IReadOnlyDictionary<string, string?> WithoutUsers { get; } = new[]
    {
        "PGHOST", "PGHOSTADDR", "PGPORT", "PGUSER", "PGPASSWORD", "PGPASSFILE",
        "PGDATABASE", "PGSERVICE", "PGOPTIONS", "PGSSLMODE",
        "PGSSLROOTCERT", "PGTARGETSESSIONATTRS", "PGDATA",
    }.ToDictionary(name => name, string? (_) => null);

    /// <summary>The settings of every server, by the names of postgresql.conf.
    /// Everything it acknowledges is on its disk.</summary>
    public static Dictionary<string, string> Common() => new()
    {
        ["unix_socket_directories"] = "",
        ["max_connections"] = "200",
        ["shared_buffers"] = "256MB",
        ["fsync"] = "on",
        ["synchronous_commit"] = "on",
        ["full_page_writes"] = "on",
        ["wal_buffers"] = "16MB",
        ["wal_compression"] = "lz4",
        ["min_wal_size"] = "256MB",
        ["max_wal_size"] = "2GB",
        ["checkpoint_timeout"] = "15min",
        // In the data folder, so that a killed server leaves nothing in /dev/shm.
        ["dynamic_shared_memory_type"] = "mmap",
        ["jit"] = "off",
        // The usual value for SSDs. With the default, plans that were prepared for empty tables keep
        // scanning whole tables.
        ["random_page_cost"] = "1.1",
        ["log_checkpoints"] = "off",
        ["log_lock_waits"] = "on",
        ["log_destination"] = "stderr",
        ["logging_collector"] = "off",
    };

    /// <summary>The connection string's parts for the database <c>billing</c>, with a new password and without the
    /// server's address.</summary>
    public static NpgsqlConnectionStringBuilder NewConnection(ServerCertificate? certificate) => new()
    {
        Username = UserName,
        Password = DeploymentCredentials.NewPassword(),
        Database = Database,
        SslMode = certificate is null ? SslMode.Disable : SslMode.VerifyFull,
        RootCertificate = certificate?.CaFile,
        GssEncryptionMode = GssEncryptionMode.Disable,
        // For other programs that use the connection string, such as a prototype in a comparison. There is no pooler.
        MaxAutoPrepare = 50,
        AutoPrepareMinUsages = 2,
    };

    /// <summary>Creates the empty database <c>billing</c>.</summary>
    /// <param name="connectionString">That of the database.</param>
    /// <param name="server">The server's process, whose log a failure quotes.</param>
    /// <exception cref="StackException">It could not be created.</exception>
    public static async Task CreateDatabaseAsync(
        string connectionString, ChildProcess server, CancellationToken cancellationToken)
    {
        var administration =
            new NpgsqlConnectionStringBuilder(connectionString) { Database = "postgres", Pooling = false };
        try
        {
            await using var source = NpgsqlDataSource.Create(administration);
            await using var command = source.CreateCommand($"CREATE DATABASE {Database}");
            await command.ExecuteNonQueryAsync(cancellationToken);
        }
        catch (NpgsqlException exception)
        {
            throw new StackException(
                server.Failure($"could not create a database: {exception.Message}").Message, exception);
        }
    }

    /// <summary>The settings by which a server accepts connections with TLS; none without a certificate.</summary>
    /// <param name="folder">The server's folder, which gets a copy, because the server rejects a key file that
    /// other users may read.</param>
    /// <param name="account">The server's account; this process's if null.</param>
    public static async Task<IReadOnlyDictionary<string, string>> OfCertificateAsync(
        ServerCertificate? certificate, string folder, ServiceAccount? account, CancellationToken cancellationToken)
    {
        if (certificate is null)
        {
            return FrozenDictionary<string, string>.Empty;
        }
        var file = Path.Combine(folder, "server.pem");
        await WriteOwnedAsync(file, certificate.Pem, account, cancellationToken);
        return new Dictionary<string, string> { ["ssl"] = "on", ["ssl_cert_file"] = file, ["ssl_key_file"] = file };
    }

    /// <summary>Settings as Patroni reads them.</summary>
    public static JsonObject ToJson(IEnumerable<KeyValuePair<string, string>> settings) =>
        new(settings.Select(setting => KeyValuePair.Create(setting.Key, (JsonNode?)setting.Value)));

    /// <summary>Writes a file that only the server may read.</summary>
    /// <param name="account">The server's account; this process's if null.</param>
    public static async Task WriteOwnedAsync(
        string file, string text, ServiceAccount? account, CancellationToken cancellationToken)
    {
        File.Delete(file);
        await File.WriteAllTextAsync(file, text, cancellationToken);
        File.SetUnixFileMode(file, UnixFileMode.UserRead);
        if (account is not null)
        {
            NativeMethods.ChangeOwner(file, account);
        }
    }
}
