using System.Net;
using System.Text.Json.Nodes;
using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Postgres;

/// <summary>One of several PostgreSQL servers that replicate, and the Patroni beside it, which starts it, promotes it,
/// or makes it follow another one. An empty data folder is filled from the primary.</summary>
public sealed class PostgresMember : IAsyncDisposable
{
    private static readonly TimeSpan StopBound = TimeSpan.FromSeconds(20);
    private static readonly HttpClient Http = new() { Timeout = TimeSpan.FromSeconds(2) };

    private readonly string _home;
    private readonly int _restPort;
    private readonly int _peersPort;
    private readonly ServiceAccount? _account;
    private readonly ChildProcessStart _start;
    private readonly string _settings;
    private readonly ServerCertificate? _certificate;

    internal PostgresMember(
        int number, StackFolder folder, FreePorts ports, bool detached, ServerCertificate? certificate, int? relayPort)
    {
        (Number, Port, _restPort) = (number, ports.Take(), ports.Take());
        _peersPort = relayPort ?? Port;
        _certificate = certificate;
        _account = ServiceAccount.ForPostgres();
        _home = folder.CreateDataFolder(Name, _account);
        _settings = Path.Combine(_home, "patroni.json");
        // A copy, because the server's account may not be able to read this program's folder.
        var launcher = Path.Combine(_home, "start_patroni.py");
        File.Copy(Path.Combine(AppContext.BaseDirectory, "start_patroni.py"), launcher);
        File.SetUnixFileMode(launcher, UnixFileMode.UserRead | UnixFileMode.GroupRead | UnixFileMode.OtherRead);
        _start = new ChildProcessStart(Name, FailoverPrograms.Python, [launcher, _settings], folder.LogFile(Name))
        {
            Account = _account,
            WorkingDirectory = "/",
            // It stops its server before it ends.
            OrphanSignal = Signal.Terminate,
            Detached = detached,
            // Clients of PostgreSQL look for certificates in the home folder, which must be one that the
            // account may read.
            Environment = new Dictionary<string, string?>(PostgresSettings.WithoutUsers) { ["HOME"] = _home },
        };
    }

    /// <summary>Its number, from 1.</summary>
    public int Number { get; }

    /// <summary>The server's TCP port on 127.0.0.1.</summary>
    public int Port { get; }

    /// <summary>Its name within the stack.</summary>
    public string Name => $"postgres-{Number}";

    /// <summary>The process of Patroni; null before it was started.</summary>
    public ChildProcess? Process { get; private set; }

    private string Data => Path.Combine(_home, "data");

    /// <summary>Whether it is the primary, and holds the lock for that.</summary>
    public Task<bool> IsPrimaryAsync(CancellationToken cancellationToken) => AnswersAsync("primary", cancellationToken);

    /// <summary>Whether commits wait for its disk.</summary>
    public Task<bool> IsSynchronousAsync(CancellationToken cancellationToken) =>
        AnswersAsync("synchronous", cancellationToken);

    /// <summary>Whether its server runs.</summary>
    public Task<bool> IsRunningAsync(CancellationToken cancellationToken) => AnswersAsync("health", cancellationToken);

    /// <summary>Starts it; it may not be ready yet.</summary>
    public void Start() => Process = ChildProcess.Start(_start);

    /// <summary>Ends Patroni, the server and its sessions at once, and deletes their data:
    /// the end of a machine with its disk.</summary>
    public async Task BurnAsync()
    {
        await KillAsync();
        Directory.Delete(Data, recursive: true);
    }

    /// <summary>Ends Patroni, the server and its sessions at once, as <c>kill -9</c> does.</summary>
    public async Task KillAsync()
    {
        Process?.Kill();
        var processes = ServerProcesses().ConvertAll(ProcessIdentity.Of);
        // Their server first, so that it starts no further one.
        foreach (var process in processes)
        {
            await process.StopAsync(Signal.Kill, TimeSpan.Zero);
        }
        await ForgetAsync();
    }

    /// <summary>Ends Patroni alone, as <c>kill -9</c> does; its server keeps running.</summary>
    public async Task KillPatroniAsync()
    {
        Process!.Kill();
        await Process.WaitForExitAsync(CancellationToken.None);
    }

    /// <summary>Pauses Patroni, the server and its sessions: connections stay open, but nothing is answered.</summary>
    public void Pause()
    {
        Process?.Pause();
        ServerProcesses().ForEach(id => NativeMethods.Send(id, Signal.Stop));
    }

    /// <summary>Resumes them.</summary>
    public void Resume()
    {
        ServerProcesses().ForEach(id => NativeMethods.Send(id, Signal.Continue));
        Process?.Resume();
    }

    /// <summary>Stops the server and Patroni, unless they are detached.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!_start.Detached)
        {
            if (Process is { HasExited: false })
            {
                Resume();
                await Process.StopAsync(StopBound);
            }
            await KillAsync();
        }
        await ForgetAsync();
    }

    /// <summary>Writes Patroni's settings.</summary>
    /// <param name="settings">Those of all servers, which this adds its own to.</param>
    internal async Task WriteSettingsAsync(JsonObject settings, CancellationToken cancellationToken)
    {
        settings["name"] = Name;
        settings["restapi"] =
            new JsonObject { ["listen"] = Address(_restPort), ["connect_address"] = Address(_restPort) };
        var server = settings["postgresql"]!.AsObject();
        (server["listen"], server["connect_address"]) = (Address(Port), Address(_peersPort));
        (server["data_dir"], server["bin_dir"], server["pgpass"]) =
            (Data, PostgresPrograms.FindFolder(), Path.Combine(_home, "pgpass"));
        server["parameters"] = PostgresSettings.ToJson(
            await PostgresSettings.OfCertificateAsync(_certificate, _home, _account, cancellationToken));
        // JSON is YAML, too.
        await PostgresSettings.WriteOwnedAsync(_settings, settings.ToJsonString(), _account, cancellationToken);
    }

    private static string Address(int port) => $"127.0.0.1:{port}";

    // Its server is no child of Patroni's: it outlives it. The server first, then its sessions.
    private List<int> ServerProcesses()
    {
        var file = Path.Combine(Data, "postmaster.pid");
        return File.Exists(file) && int.TryParse(File.ReadLines(file).FirstOrDefault(), out var server) && IsOwn(server)
            ? [server, .. ProcessIdentity.ChildrenOf(server)]
            : [];
    }

    // After a kill the file names a process that may be another one by now.
    private bool IsOwn(int process)
    {
        try
        {
            return File.ReadAllText($"/proc/{process}/cmdline").Contains(Data, StringComparison.Ordinal);
        }
        catch (IOException)
        {
            return false;
        }
    }

    private async Task<bool> AnswersAsync(string question, CancellationToken cancellationToken)
    {
        try
        {
            using var answer = await Http.GetAsync(
                new Uri($"http://{Address(_restPort)}/{question}"), cancellationToken);
            return answer.StatusCode == HttpStatusCode.OK;
        }
        catch (Exception e) when (e is HttpRequestException
            || (e is OperationCanceledException && !cancellationToken.IsCancellationRequested))
        {
            return false;
        }
    }

    private async Task ForgetAsync()
    {
        if (Process is not null)
        {
            await Process.DisposeAsync();
            Process = null;
        }
    }
}
