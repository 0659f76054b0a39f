using System.Collections.Frozen;
using Billing.LocalStack.Processes;
using Npgsql;

namespace Billing.LocalStack.Postgres;

/// <summary>
/// A PostgreSQL server that belongs to the stack, with its own data folder, port on the loopback interface and
/// password. The system's server is never used. Everything it acknowledges is on disk (fsync and
/// synchronous_commit are on).</summary>
public sealed class LocalPostgres : IAsyncDisposable
{
    private const string ServerName = "postgres";

    private readonly string _name;
    private static readonly TimeSpan StopBound = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan RetryInterval = TimeSpan.FromMilliseconds(100);

    private readonly string _programs;
    private readonly string _data;
    private readonly string _cluster;
    private readonly string _logFile;
    private readonly ServiceAccount? _account;
    private readonly bool _detached;
    private readonly ServerCertificate? _certificate;
    private readonly IReadOnlyDictionary<string, string> _settings;
    private readonly IReadOnlyDictionary<string, string> _environment;
    private readonly NpgsqlConnectionStringBuilder _connection;

    private LocalPostgres(
        string name, StackFolder folder, FreePorts ports, bool detached, ServerCertificate? certificate,
        IReadOnlyDictionary<string, string> settings, IReadOnlyDictionary<string, string> environment)
    {
        (_name, _settings, _environment) = (name, settings, environment);
        _certificate = certificate;
        _programs = PostgresPrograms.FindFolder();
        _account = ServiceAccount.ForPostgres();
        _data = folder.CreateDataFolder(name, _account);
        _cluster = Path.Combine(_data, "data");
        _logFile = folder.LogFile(name);
        _detached = detached;
        _connection = PostgresSettings.NewConnection(certificate);
        (_connection.Host, _connection.Port) = ("127.0.0.1", ports.Take());
    }

    /// <summary>The connection string of the database <c>billing</c> in Npgsql's format, including the
    /// password.</summary>
    public string ConnectionString => _connection.ConnectionString;

    /// <summary>The TCP port on 127.0.0.1.</summary>
    public int Port => _connection.Port;

    /// <summary>The server's process; null before it was started and after it was stopped.</summary>
    public ChildProcess? Process { get; private set; }

    /// <summary>Creates a new cluster with an empty database <c>billing</c>, and starts it.</summary>
    /// <param name="detached">Whether the server keeps running when this process ends.</param>
    /// <param name="certificate">The server's certificate, with which it only accepts connections with TLS;
    /// no TLS if absent.</param>
    /// <param name="settings">Further settings, by the names of postgresql.conf; none if absent.</param>
    /// <param name="environment">Environment variables of the server; none if absent.</param>
    /// <param name="name">The name of its process, folder and log.</param>
    /// <exception cref="StackException">PostgreSQL 14 or newer is missing, or does not start.</exception>
    public static async Task<LocalPostgres> StartNewAsync(
        StackFolder folder,
        FreePorts ports,
        bool detached = false,
        IProgress<string>? progress = null,
        ServerCertificate? certificate = null,
        IReadOnlyDictionary<string, string>? settings = null,
        IReadOnlyDictionary<string, string>? environment = null,
        string name = ServerName,
        CancellationToken cancellationToken = default)
    {
        progress?.Report("Starting PostgreSQL");
        var none = FrozenDictionary<string, string>.Empty;
        var postgres = new LocalPostgres(
            name, folder, ports, detached, certificate, settings ?? none, environment ?? none);
        try
        {
            await postgres.CreateClusterAsync(cancellationToken);
            await postgres.StartAsync(cancellationToken);
            await PostgresSettings.CreateDatabaseAsync(postgres.ConnectionString, postgres.Process!, cancellationToken);
            return postgres;
        }
        catch
        {
            postgres.Process?.Kill();
            await postgres.DisposeAsync();
            throw;
        }
    }

    /// <summary>Starts the server after <see cref="StopAsync"/> or <see cref="Kill"/>;
    /// returns when it accepts connections.</summary>
    /// <exception cref="StackException">It does not start, or takes more than a minute.</exception>
    public async Task StartAsync(CancellationToken cancellationToken = default)
    {
        if (Process is { HasExited: false })
        {
            throw new InvalidOperationException("PostgreSQL is already running");
        }

        using var retry = new PeriodicTimer(RetryInterval);
        using var bound = new CancellationTokenSource(ChildProcess.Patience, TimeProvider.System);
        while (true)
        {
            await ForgetServerAsync();
            Process = ChildProcess.Start(ServerStart());
            try
            {
                await Process.WaitForOutputAsync(
                    line => line.Contains("database system is ready to accept connections", StringComparison.Ordinal),
                    ChildProcess.Patience, cancellationToken);
                return;
            }
            catch (StackException) when (!bound.IsCancellationRequested && OldSessionsRemain())
            {
                // After a kill -9 the sessions of the dead server take a moment to end, and until then it
                // refuses to start.
                await retry.WaitForNextTickAsync(cancellationToken);
            }
        }
    }

    /// <summary>Disconnects all clients and stops the server gracefully.</summary>
    public async Task StopAsync()
    {
        if (Process is not null)
        {
            Resume();
            await Process.StopAsync(StopBound);
            await ForgetServerAsync();
        }
    }

    /// <summary>Kills the server, as <c>kill -9</c> does. It recovers at the next start.</summary>
    public void Kill() => Process?.Kill();

    /// <summary>Ends the server and all its sessions without a checkpoint (shutdown mode "immediate");
    /// returns when they have ended. It recovers at the next start.</summary>
    public async Task CrashAsync()
    {
        if (Process is not null)
        {
            Resume();
            Process.Send(Signal.Quit);
            await Process.WaitForExitAsync(CancellationToken.None);
        }
    }

    /// <summary>Pauses the server and all its sessions: connections stay open, but nothing is answered.</summary>
    public void Pause() => SendToAll(Signal.Stop);

    /// <summary>Resumes a paused server.</summary>
    public void Resume() => SendToAll(Signal.Continue);

    /// <summary>Stops the server, unless it is detached.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!_detached)
        {
            await StopAsync();
        }

        await ForgetServerAsync();
    }

    // The sessions are separate processes. The server first, so that no session is added meanwhile.
    private void SendToAll(Signal signal)
    {
        if (Process is { HasExited: false } server)
        {
            server.Send(signal);
            foreach (var session in ProcessIdentity.ChildrenOf(server.Id))
            {
                NativeMethods.Send(session, signal);
            }
        }
    }

    private bool OldSessionsRemain() =>
        Process!.LastLogLines(10).Any(line => line.Contains("shared memory block", StringComparison.Ordinal));

    private async Task ForgetServerAsync()
    {
        if (Process is not null)
        {
            await Process.DisposeAsync();
            Process = null;
        }
    }

    private async Task CreateClusterAsync(CancellationToken cancellationToken)
    {
        var passwordFile = Path.Combine(_data, "password");
        await PostgresSettings.WriteOwnedAsync(passwordFile, _connection.Password!, _account, cancellationToken);
        var initdb = new ChildProcessStart(
            "initdb",
            Path.Combine(_programs, "initdb"),
            [
                "--pgdata=" + _cluster, "--username=" + PostgresSettings.UserName, "--pwfile=" + passwordFile,
                "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C",
                "--data-checksums", "--no-sync", "--no-instructions",
            ],
            _logFile)
        {
            Account = _account,
            WorkingDirectory = "/",
        };
        await ChildProcess.RunAsync(initdb, ChildProcess.Patience, cancellationToken);
        File.Delete(passwordFile);
        var withTls = await PostgresSettings.OfCertificateAsync(_certificate, _data, _account, cancellationToken);
        await File.AppendAllTextAsync(Path.Combine(_cluster, "postgresql.conf"), Settings(withTls), cancellationToken);
        if (_certificate is not null)
        {
            await File.WriteAllTextAsync(
                Path.Combine(_cluster, "pg_hba.conf"),
                "hostssl all all 127.0.0.1/32 scram-sha-256\n", cancellationToken);
        }
    }

    private ChildProcessStart ServerStart() =>
        new(_name, Path.Combine(_programs, "postgres"), ["-D", _cluster], _logFile)
        {
            Account = _account,
            WorkingDirectory = "/",
            StopSignal = Signal.Interrupt,
            OrphanSignal = Signal.Interrupt,
            Detached = _detached,
            Environment = _environment.ToDictionary(variable => variable.Key, string? (variable) => variable.Value),
        };

    private string Settings(IReadOnlyDictionary<string, string> withTls) => string.Concat(
        PostgresSettings.Common().Concat(
        [
            new("listen_addresses", "127.0.0.1"), new("port", Port.ToString()),
            new("wal_level", "minimal"), new("max_wal_senders", "0"),
            .. _settings, .. withTls,
        ]).Select(s => $"{s.Key} = '{s.Value}'\n"));
}
