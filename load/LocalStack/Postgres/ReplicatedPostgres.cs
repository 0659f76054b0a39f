using System.Text.Json.Nodes;
using Billing.LocalStack.Processes;
using Billing.Operator.Credentials;
using Npgsql;

namespace Billing.LocalStack.Postgres;

/// <summary>Several PostgreSQL servers: a primary, a standby whose disk has every commit before it is acknowledged, and
/// a failover that Patroni and etcd decide. They belong to the stack, with their own data folders and ports on the
/// loopback interface.</summary>
public sealed class ReplicatedPostgres : IAsyncDisposable
{
    // A leader that has not renewed its lock for this long has lost it. It tries every LoopSeconds, and for
    // RetrySeconds each time; the first must be at least the second and twice the third.
    private const int LockSeconds = 9;
    private const int LoopSeconds = 2;
    private const int RetrySeconds = 3;

    // A server that ended alone, such as one that ran out of memory, has this long to recover before
    // another one takes over.
    private const int RecoverySeconds = 10;

    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(250);

    private readonly NpgsqlConnectionStringBuilder _connection;
    private readonly string _replicationPassword = DeploymentCredentials.NewPassword();
    private readonly ChildProcessStart _etcdStart;
    private readonly string _etcdAddress;
    private ChildProcess? _etcd;

    private ReplicatedPostgres(
        StackFolder folder, FreePorts ports, int servers, bool detached,
        ServerCertificate? certificate, PeerRelays? relays)
    {
        var (clients, peers) = ($"http://127.0.0.1:{ports.Take()}", $"http://127.0.0.1:{ports.Take()}");
        _etcdAddress = clients;
        _etcdStart = new ChildProcessStart(
            "etcd", FailoverPrograms.Etcd,
            [
                "--name=etcd", "--data-dir=" + folder.CreateDataFolder("etcd"),
                "--listen-client-urls=" + clients, "--advertise-client-urls=" + clients,
                "--listen-peer-urls=" + peers, "--initial-advertise-peer-urls=" + peers,
                "--initial-cluster=etcd=" + peers, "--log-level=warn",
            ],
            folder.LogFile("etcd"))
        {
            Detached = detached,
        };
        Members =
        [
            .. Enumerable.Range(1, servers).Select(
                number => new PostgresMember(number, folder, ports, detached, certificate, relays?.Ports[number - 1])),
        ];
        relays?.Lead([.. Members.Select(member => member.Port)]);
        _connection = PostgresSettings.NewConnection(certificate);
        _connection.Host = string.Join(',', Members.Select(member => $"127.0.0.1:{member.Port}"));
        _connection.TargetSessionAttributes = "primary";
    }

    /// <summary>The connection string of the database <c>billing</c> in Npgsql's format, including the password:
    /// all servers, and that the primary is wanted.</summary>
    public string ConnectionString => _connection.ConnectionString;

    /// <summary>The servers.</summary>
    public IReadOnlyList<PostgresMember> Members { get; }

    /// <summary>The processes that run, in the order in which they must be stopped.</summary>
    public IEnumerable<ChildProcess> Processes =>
        Members.Select(member => member.Process).Append(_etcd).OfType<ChildProcess>();

    /// <summary>Starts etcd and new servers with an empty database <c>billing</c>; returns when one is the primary and
    /// another one's disk has what it commits.</summary>
    /// <param name="servers">Number of servers, at least 2.</param>
    /// <param name="detached">Whether they keep running when this process ends.</param>
    /// <param name="certificate">The servers' certificate, with which they only accept connections with TLS;
    /// no TLS if absent.</param>
    /// <param name="relays">The network between the servers; they reach each other directly if absent.</param>
    /// <exception cref="StackException">PostgreSQL, Patroni or etcd is missing, or does not start.</exception>
    public static async Task<ReplicatedPostgres> StartNewAsync(
        StackFolder folder,
        FreePorts ports,
        int servers,
        bool detached = false,
        IProgress<string>? progress = null,
        ServerCertificate? certificate = null,
        PeerRelays? relays = null,
        CancellationToken cancellationToken = default)
    {
        progress?.Report($"Starting {servers} PostgreSQL servers");
        var postgres = new ReplicatedPostgres(folder, ports, servers, detached, certificate, relays);
        try
        {
            await postgres.StartEtcdAsync(cancellationToken);
            foreach (var member in postgres.Members)
            {
                await member.WriteSettingsAsync(postgres.Settings(certificate is not null), cancellationToken);
                member.Start();
            }
            await postgres.WaitUntilSafeAsync(cancellationToken);
            await PostgresSettings.CreateDatabaseAsync(
                postgres.ConnectionString, postgres.Members[0].Process!, cancellationToken);
            return postgres;
        }
        catch
        {
            foreach (var member in postgres.Members)
            {
                await member.KillAsync();
            }
            postgres._etcd?.Kill();
            await postgres.DisposeAsync();
            throw;
        }
    }

    /// <summary>Waits until one server is the primary.</summary>
    /// <exception cref="StackException">None is after <see cref="ChildProcess.Patience"/>.</exception>
    public Task<PostgresMember> PrimaryAsync(CancellationToken cancellationToken) => WaitAsync(
        token => FindAsync((member, t) => member.IsPrimaryAsync(t), token), cancellationToken);

    /// <summary>Waits until the disk of a standby has every commit.</summary>
    /// <returns>That standby.</returns>
    /// <exception cref="StackException">None has after <see cref="ChildProcess.Patience"/>.</exception>
    public Task<PostgresMember> StandbyAsync(CancellationToken cancellationToken) => WaitAsync(
        token => FindAsync((member, t) => member.IsSynchronousAsync(t), token), cancellationToken);

    /// <summary>Waits until all servers run, one as the primary and another one with every
    /// commit on its disk.</summary>
    /// <exception cref="StackException">They do not after <see cref="ChildProcess.Patience"/>.</exception>
    public async Task WaitUntilSafeAsync(CancellationToken cancellationToken)
    {
        await PrimaryAsync(cancellationToken);
        await StandbyAsync(cancellationToken);
        foreach (var member in Members)
        {
            await WaitAsync(async token => await member.IsRunningAsync(token) ? member : null, cancellationToken);
        }
    }

    /// <summary>Kills etcd, as <c>kill -9</c> does.</summary>
    public async Task KillEtcdAsync()
    {
        _etcd?.Kill();
        await (_etcd?.WaitForExitAsync(CancellationToken.None) ?? Task.CompletedTask);
    }

    /// <summary>Starts etcd with what is on its disk.</summary>
    public async Task StartEtcdAsync(CancellationToken cancellationToken)
    {
        await ForgetEtcdAsync();
        _etcd = ChildProcess.Start(_etcdStart);
        await _etcd.WaitUntilAnsweredAsync(_etcdAddress + "/health", cancellationToken);
    }

    /// <summary>Stops the servers and etcd, unless they are detached.</summary>
    public async ValueTask DisposeAsync()
    {
        await Task.WhenAll(Members.Select(member => member.DisposeAsync().AsTask()));
        await ForgetEtcdAsync();
    }

    private async Task ForgetEtcdAsync()
    {
        if (_etcd is not null)
        {
            await _etcd.DisposeAsync();
            _etcd = null;
        }
    }

    private async Task<PostgresMember?> FindAsync(
        Func<PostgresMember, CancellationToken, Task<bool>> isWanted, CancellationToken cancellationToken)
    {
        foreach (var member in Members.Where(member => member.Process is not null))
        {
            if (await isWanted(member, cancellationToken))
            {
                return member;
            }
        }
        return null;
    }

    private async Task<PostgresMember> WaitAsync(
        Func<CancellationToken, Task<PostgresMember?>> find, CancellationToken cancellationToken)
    {
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        bound.CancelAfter(ChildProcess.Patience);
        using var poll = new PeriodicTimer(PollInterval);
        try
        {
            while (true)
            {
                if (await find(bound.Token) is { } found)
                {
                    return found;
                }
                if (Processes.FirstOrDefault(process => process.HasExited) is { } ended)
                {
                    throw ended.Failure($"ended with exit code {ended.ExitCode}");
                }
                await poll.WaitForNextTickAsync(bound.Token);
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw Members[0].Process
                ?.Failure("and the other PostgreSQL servers have no primary and synchronous standby")
                ?? new StackException("The PostgreSQL servers have no primary and synchronous standby.");
        }
    }

    private JsonObject Settings(bool withTls)
    {
        var access = withTls ? "hostssl" : "host";
        return new JsonObject
        {
            ["scope"] = "billing",
            ["etcd3"] = new JsonObject { ["host"] = new Uri(_etcdAddress).Authority },
            ["bootstrap"] = new JsonObject
            {
                ["dcs"] = Agreed(),
                ["initdb"] = new JsonArray(
                    new JsonObject { ["encoding"] = "UTF8" },
                    new JsonObject { ["locale"] = "C" }, "data-checksums", "no-sync"),
            },
            ["postgresql"] = new JsonObject
            {
                ["pg_hba"] = new JsonArray(
                    $"{access} replication replicator 127.0.0.1/32 scram-sha-256",
                    $"{access} all {PostgresSettings.UserName} 127.0.0.1/32 scram-sha-256"),
                // A new standby does not wait for the primary's next checkpoint.
                ["basebackup"] = new JsonArray(new JsonObject { ["checkpoint"] = "fast" }),
                ["authentication"] = new JsonObject
                {
                    ["superuser"] = new JsonObject
                    {
                        ["username"] = PostgresSettings.UserName,
                        ["password"] = _connection.Password,
                    },
                    ["replication"] =
                        new JsonObject { ["username"] = "replicator", ["password"] = _replicationPassword },
                },
            },
        };
    }

    // What holds for all servers. A commit waits for two disks while there are two servers;
    // with one server left it goes on, and what was committed since is on one disk only.
    private static JsonObject Agreed()
    {
        var parameters = PostgresSettings.ToJson(PostgresSettings.Common());
        // A standby, or a primary, that does not answer is noticed as quickly as a lost lock.
        (parameters["wal_sender_timeout"], parameters["wal_receiver_timeout"]) = ("5s", "5s");
        // A former primary begins where the last checkpoint did that both had. There is no archive that has what the
        // new one has no more.
        parameters["wal_keep_size"] = (string?)parameters["max_wal_size"];
        return new JsonObject
        {
            ["ttl"] = LockSeconds,
            ["loop_wait"] = LoopSeconds,
            ["retry_timeout"] = RetrySeconds,
            ["primary_start_timeout"] = RecoverySeconds,
            ["synchronous_mode"] = true,
            // While etcd does not answer, the primary goes on as long as it reaches all others.
            ["failsafe_mode"] = true,
            ["postgresql"] = new JsonObject
            {
                ["use_pg_rewind"] = true,
                ["remove_data_directory_on_rewind_failure"] = true,
                ["remove_data_directory_on_diverged_timelines"] = true,
                ["parameters"] = parameters,
            },
        };
    }
}
