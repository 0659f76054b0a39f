using System.Collections.Frozen;
using System.Globalization;
using System.Security.Cryptography;
using Billing.LocalStack.Processes;
using Npgsql;

namespace Billing.LocalStack.Postgres;

/// <summary>What a server proves itself with.</summary>
/// <param name="Pem">Its certificate and key.</param>
/// <param name="CaFile">The certificate of the authority that signed it, for clients.</param>
public sealed record ServerCertificate(string Pem, string CaFile);

/// <summary>
/// A PostgreSQL server of the stack's own: own data folder, own port on the loopback interface, own password. Never the
/// system's server. Everything it acknowledges is on disk (fsync and synchronous_commit are on).
/// </summary>
public sealed class LocalPostgres : IAsyncDisposable
{
    private const string ServerName = "postgres";
    private const string UserName = "billing";
    private const string Database = "billing";
    private static readonly TimeSpan SetupBound = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan StartBound = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan StopBound = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan RetryInterval = TimeSpan.FromMilliseconds(100);

    private readonly string _programs;
    private readonly string _data;
    private readonly string _logFile;
    private readonly ServiceAccount? _account;
    private readonly bool _detached;
    private readonly ServerCertificate? _certificate;
    private readonly IReadOnlyDictionary<string, string> _settings;
    private readonly NpgsqlConnectionStringBuilder _connection;
    private ChildProcess? _server;

    private LocalPostgres(StackFolder folder, FreePorts ports, bool detached, ServerCertificate? certificate, IReadOnlyDictionary<string, string> settings)
    {
        _settings = settings;
        _certificate = certificate;
        _programs = PostgresPrograms.FindFolder();
        _account = ServiceAccount.ForPostgres();
        _data = folder.CreateSubfolder("postgres", _account);
        _logFile = folder.LogFile(ServerName);
        _detached = detached;
        _connection = new NpgsqlConnectionStringBuilder
        {
            Host = "127.0.0.1",
            Port = ports.Take(),
            Username = UserName,
            Password = RandomNumberGenerator.GetHexString(32, lowercase: true),
            Database = Database,
            SslMode = certificate is null ? SslMode.Disable : SslMode.VerifyFull,
            RootCertificate = certificate?.CaFile,
            GssEncryptionMode = GssEncryptionMode.Disable,
            // For whatever else is given the connection string, such as a prototype to compare with; no pooler stands between.
            MaxAutoPrepare = 50,
            AutoPrepareMinUsages = 2,
        };
    }

    /// <summary>How to reach the database <c>billing</c>, in Npgsql's format, password included.</summary>
    public string ConnectionString => _connection.ConnectionString;

    /// <summary>The TCP port on 127.0.0.1.</summary>
    public int Port => _connection.Port;

    /// <summary>The server's process, for one that was started and not stopped since.</summary>
    public ChildProcess? Process => _server;

    /// <summary>Makes a new cluster with an empty database <c>billing</c>, and starts it.</summary>
    /// <param name="folder">Where its data and log go.</param>
    /// <param name="ports">Where its port comes from.</param>
    /// <param name="detached">Whether the server goes on when this process ends.</param>
    /// <param name="progress">Is told what is being done.</param>
    /// <param name="certificate">What the server proves itself with over TLS, without which it then lets nobody in; none when
    /// absent.</param>
    /// <param name="settings">Further settings, by the names of postgresql.conf; none when absent.</param>
    /// <param name="cancellationToken">Gives up, leaving no process.</param>
    /// <exception cref="StackException">PostgreSQL 14 or newer is missing, or refuses to start.</exception>
    public static async Task<LocalPostgres> StartNewAsync(
        StackFolder folder,
        FreePorts ports,
        bool detached = false,
        IProgress<string>? progress = null,
        ServerCertificate? certificate = null,
        IReadOnlyDictionary<string, string>? settings = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(folder);
        ArgumentNullException.ThrowIfNull(ports);
        progress?.Report("Starting PostgreSQL");
        var postgres = new LocalPostgres(folder, ports, detached, certificate, settings ?? FrozenDictionary<string, string>.Empty);
        try
        {
            await postgres.CreateClusterAsync(cancellationToken).ConfigureAwait(false);
            await postgres.StartAsync(cancellationToken).ConfigureAwait(false);
            await postgres.CreateDatabaseAsync(cancellationToken).ConfigureAwait(false);
            return postgres;
        }
        catch
        {
            postgres._server?.Kill();
            await postgres.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Starts the server after <see cref="StopAsync"/> or <see cref="Kill"/>; returns when it answers.</summary>
    /// <exception cref="StackException">It refuses, or takes more than a minute.</exception>
    /// <exception cref="InvalidOperationException">It runs already.</exception>
    public async Task StartAsync(CancellationToken cancellationToken = default)
    {
        if (_server is { HasExited: false })
        {
            throw new InvalidOperationException("PostgreSQL runs already");
        }

        using var retry = new PeriodicTimer(RetryInterval);
        using var bound = new CancellationTokenSource(StartBound, TimeProvider.System);
        while (true)
        {
            await ForgetServerAsync().ConfigureAwait(false);
            _server = ChildProcess.Start(ServerStart());
            try
            {
                await _server.WaitForOutputAsync(IsReadyLine, StartBound, cancellationToken).ConfigureAwait(false);
                return;
            }
            catch (StackException) when (!bound.IsCancellationRequested && OldSessionsRemain())
            {
                // After a kill -9 the sessions of the dead server take a moment to notice; it refuses to start as long.
                await retry.WaitForNextTickAsync(cancellationToken).ConfigureAwait(false);
            }
        }
    }

    /// <summary>Disconnects everyone and stops the server in good order.</summary>
    public async Task StopAsync()
    {
        if (_server is not null)
        {
            Resume();
            await _server.StopAsync(StopBound).ConfigureAwait(false);
            await ForgetServerAsync().ConfigureAwait(false);
        }
    }

    /// <summary>Stops and starts the server.</summary>
    /// <exception cref="StackException">It refuses to start.</exception>
    public async Task RestartAsync(CancellationToken cancellationToken = default)
    {
        await StopAsync().ConfigureAwait(false);
        await StartAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Ends the server at once, as <c>kill -9</c> does. It recovers at the next start.</summary>
    public void Kill() => _server?.Kill();

    /// <summary>Ends the server and all its sessions at once and without a checkpoint ("immediate"); returns when they are
    /// gone. It recovers at the next start.</summary>
    public async Task CrashAsync()
    {
        if (_server is not null)
        {
            Resume();
            _server.Send(Signal.Quit);
            await _server.WaitForExitAsync(CancellationToken.None).ConfigureAwait(false);
        }
    }

    /// <summary>Freezes the server and all its sessions: connections stay open and answer nothing.</summary>
    public void Pause() => SendToAll(Signal.Stop);

    /// <summary>Lets a frozen server go on.</summary>
    public void Resume() => SendToAll(Signal.Continue);

    /// <summary>Stops the server, unless it is detached.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!_detached)
        {
            await StopAsync().ConfigureAwait(false);
        }

        await ForgetServerAsync().ConfigureAwait(false);
    }

    // The sessions are processes of their own. The server first, so that none is added meanwhile.
    private void SendToAll(Signal signal)
    {
        if (_server is { HasExited: false } server)
        {
            server.Send(signal);
            foreach (var session in ProcessIdentity.ChildrenOf(server.Id))
            {
                NativeMethods.Send(session, signal);
            }
        }
    }

    private static bool IsReadyLine(string line) =>
        line.Contains("database system is ready to accept connections", StringComparison.Ordinal);

    private bool OldSessionsRemain() =>
        _server!.LastLogLines(10).Any(line => line.Contains("shared memory block", StringComparison.Ordinal));

    private async Task ForgetServerAsync()
    {
        if (_server is not null)
        {
            await _server.DisposeAsync().ConfigureAwait(false);
            _server = null;
        }
    }

    private async Task CreateClusterAsync(CancellationToken cancellationToken)
    {
        var passwordFile = Path.Combine(_data, "password");
        await File.WriteAllTextAsync(passwordFile, _connection.Password, cancellationToken).ConfigureAwait(false);
        if (_account is not null)
        {
            NativeMethods.ChangeOwner(passwordFile, _account);
        }

        var initdb = new ChildProcessStart(
            "initdb",
            Path.Combine(_programs, "initdb"),
            [
                "--pgdata=" + Path.Combine(_data, "data"), "--username=" + UserName, "--pwfile=" + passwordFile,
                "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions",
            ],
            _logFile)
        {
            Account = _account,
            WorkingDirectory = "/",
        };
        await ChildProcess.RunAsync(initdb, SetupBound, cancellationToken).ConfigureAwait(false);
        File.Delete(passwordFile);
        await File.AppendAllTextAsync(
            Path.Combine(_data, "data", "postgresql.conf"), Settings(), cancellationToken).ConfigureAwait(false);
        if (_certificate is not null)
        {
            await DemandTlsAsync(_certificate, cancellationToken).ConfigureAwait(false);
        }
    }

    private async Task DemandTlsAsync(ServerCertificate certificate, CancellationToken cancellationToken)
    {
        // A copy of its own: the server reads a key only if nobody else may.
        var file = Path.Combine(_data, "server.pem");
        await File.WriteAllTextAsync(file, certificate.Pem, cancellationToken).ConfigureAwait(false);
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(file, UnixFileMode.UserRead);
        }
        if (_account is not null)
        {
            NativeMethods.ChangeOwner(file, _account);
        }
        await File.AppendAllTextAsync(
            Path.Combine(_data, "data", "postgresql.conf"),
            $"ssl = on\nssl_cert_file = '{file}'\nssl_key_file = '{file}'\n", cancellationToken).ConfigureAwait(false);
        await File.WriteAllTextAsync(
            Path.Combine(_data, "data", "pg_hba.conf"), "hostssl all all 127.0.0.1/32 scram-sha-256\n", cancellationToken).ConfigureAwait(false);
    }

    private ChildProcessStart ServerStart() =>
        new(ServerName, Path.Combine(_programs, "postgres"), ["-D", Path.Combine(_data, "data")], _logFile)
        {
            Account = _account,
            WorkingDirectory = "/",
            StopSignal = Signal.Interrupt,
            OrphanSignal = Signal.Interrupt,
            Detached = _detached,
        };

    private string Settings() => string.Create(CultureInfo.InvariantCulture, $"""

        listen_addresses = '127.0.0.1'
        port = {Port}
        unix_socket_directories = ''
        max_connections = 200
        shared_buffers = 256MB
        fsync = on
        synchronous_commit = on
        full_page_writes = on
        wal_level = minimal
        max_wal_senders = 0
        wal_buffers = 16MB
        min_wal_size = 256MB
        max_wal_size = 2GB
        checkpoint_timeout = 15min
        # In the data folder, so that a killed server leaves nothing in /dev/shm.
        dynamic_shared_memory_type = mmap
        jit = off
        # As with any disk without moving parts; without it, plans prepared for tables still empty read whole tables.
        random_page_cost = 1.1
        log_checkpoints = off
        log_destination = stderr
        logging_collector = off
        {string.Concat(_settings.Select(s => $"{s.Key} = '{s.Value}'\n"))}
        """);

    private async Task CreateDatabaseAsync(CancellationToken cancellationToken)
    {
        var administration = new NpgsqlConnectionStringBuilder(ConnectionString)
        {
            Database = "postgres",
            Pooling = false,
        };
        try
        {
            var connection = new NpgsqlConnection(administration.ConnectionString);
            await using (connection.ConfigureAwait(false))
            {
                await connection.OpenAsync(cancellationToken).ConfigureAwait(false);
                var command = new NpgsqlCommand($"CREATE DATABASE {Database}", connection);
                await using (command.ConfigureAwait(false))
                {
                    await command.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false);
                }
            }
        }
        catch (NpgsqlException exception)
        {
            throw new StackException(_server!.Failure($"refuses a database: {exception.Message}").Message, exception);
        }
    }
}
