using System.Globalization;
using Billing.LocalStack.Processes;

namespace Billing.Measuring.Experiments.Echo;

/// <summary>An echo server in a process of its own.</summary>
internal sealed class EchoProcess : IAsyncDisposable
{
    private readonly ChildProcess _process;

    private EchoProcess(ChildProcess process, int port)
    {
        _process = process;
        Port = port;
    }

    /// <summary>The process's id.</summary>
    public int Id => _process.Id;

    public int Port { get; }

    /// <summary>Its address for gRPC and HTTP.</summary>
    public string Address => string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{Port}");

    /// <summary>Starts a server and waits until it is ready for calls.</summary>
    /// <param name="port">The port to listen on.</param>
    /// <param name="folder">The folder for its log.</param>
    /// <param name="options">Further options of the server.</param>
    /// <param name="hostOptions">Options of the .NET host.</param>
    /// <exception cref="StackException">The server could not be started.</exception>
    public static async Task<EchoProcess> StartAsync(
        string protocol, int port, string folder, IReadOnlyList<string> options,
        CancellationToken cancellationToken, IReadOnlyList<string>? hostOptions = null)
    {
        var label = string.Create(CultureInfo.InvariantCulture, $"echo-{protocol}-{port}");
        string[] arguments =
        [
            .. hostOptions ?? [], DotnetProgram.FileOf("Billing.Cli"), "serve-echo", "--protocol", protocol,
            "--port", port.ToString(CultureInfo.InvariantCulture), .. options,
        ];
        var process = ChildProcess.Start(
            new ChildProcessStart(label, DotnetProgram.Launcher, arguments, Path.Combine(folder, label + ".log"))
            {
                Environment = hostOptions is null
                    ? DotnetProgram.Settings.ToDictionary(v => v.Key, v => (string?)v.Value, StringComparer.Ordinal)
                    : [],
            });
        try
        {
            await process.WaitForOutputAsync(
                line => line == EchoServer.ReadyLine, ChildProcess.Patience, cancellationToken);
            return new EchoProcess(process, port);
        }
        catch
        {
            await process.DisposeAsync();
            throw;
        }
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
