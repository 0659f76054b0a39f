using System.Globalization;
using Billing.LocalStack.Processes;
using Billing.Measuring.Comparing.Rpc;

namespace Billing.Measuring.Comparing.Ceiling;

/// <summary>Echo servers in separate processes, configured like the proxies.</summary>
internal sealed class EchoProxies : IAsyncDisposable
{

    private readonly FreePorts _ports = new();
    private readonly List<ChildProcess> _processes = [];

    private EchoProxies()
    {
    }

    /// <summary>Addresses of the servers.</summary>
    public IReadOnlyList<string> Addresses { get; private set; } = [];

    /// <exception cref="StackException">A server could not be started.</exception>
    public static async Task<EchoProxies> StartAsync(int count, StackFolder folder, CancellationToken cancellationToken)
    {
        var echoes = new EchoProxies();
        try
        {
            echoes.Addresses = [.. Enumerable.Range(1, count).Select(n => echoes.Launch(n, folder))];
            await Task.WhenAll(echoes._processes.Select(
                process => process.WaitForOutputAsync(line => line == EchoServer.ReadyLine, ChildProcess.Patience, cancellationToken)));
            return echoes;
        }
        catch
        {
            await echoes.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var process in _processes)
        {
            await process.DisposeAsync();
        }
        _ports.Dispose();
    }

    private string Launch(int number, StackFolder folder)
    {
        var port = _ports.Take().ToString(CultureInfo.InvariantCulture);
        var label = string.Create(CultureInfo.InvariantCulture, $"echo-{number}");
        var environment = DotnetProgram.Settings.ToDictionary(v => v.Key, v => (string?)v.Value, StringComparer.Ordinal);
        _processes.Add(ChildProcess.Start(new ChildProcessStart(
            label, DotnetProgram.Launcher, [DotnetProgram.FileOf("Billing.Cli"), "serve-echo", "--protocol", Protocols.Grpc, "--port", port], folder.LogFile(label))
        {
            Environment = environment,
        }));
        return "http://127.0.0.1:" + port;
    }
}
