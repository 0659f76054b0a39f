using System.Globalization;
using System.Text.Json.Nodes;
using Billing.LocalStack.Processes;
using Billing.Measuring.Processes;

namespace Billing.Measuring.Comparing.Rpc;

/// <summary>One side of the comparison: a server in a process of its own, and its client in this one.</summary>
internal sealed class EchoSide : IAsyncDisposable
{
    private static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(10);

    private readonly ChildProcess _server;
    private readonly ProcessClock _serverClock;
    private readonly EchoClient _client;

    private EchoSide(string protocol, ChildProcess server, EchoClient client) =>
        (Protocol, _server, _serverClock, _client) = (protocol, server, new ProcessClock(server.Id), client);

    /// <summary>One of <see cref="Protocols"/>.</summary>
    public string Protocol { get; }

    /// <summary>Starts a server and waits until it is ready for calls.</summary>
    /// <exception cref="StackException">The server could not be started.</exception>
    public static async Task<EchoSide> StartAsync(
        string protocol, int port, RpcConditions conditions, string folder, CancellationToken cancellationToken)
    {
        var program = Path.Combine(AppContext.BaseDirectory, "Billing.Cli.dll");
        string[] arguments =
        [
            .. conditions.DefaultRuntime ? await DefaultRuntimeAsync(program, folder, cancellationToken) : [],
            program, "serve-echo", "--protocol", protocol, "--port", port.ToString(CultureInfo.InvariantCulture),
            "--dispatch", conditions.PoolDispatch ? EchoServer.PoolDispatch : EchoServer.InlineDispatch,
        ];
        var server = ChildProcess.Start(new ChildProcessStart(
            "echo-" + protocol, DotnetProgram.Launcher, arguments, Path.Combine(folder, protocol + ".log")));
        try
        {
            await server.WaitForOutputAsync(line => line == EchoServer.ReadyLine, ChildProcess.Patience, cancellationToken);
            return new EchoSide(protocol, server, EchoClient.Create(protocol, port, conditions.Connections));
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    /// <summary>Runs the given number of concurrent callers, each of which makes the given number of calls in sequence.</summary>
    public async Task<RpcRun> RunAsync(int threads, int requests, TimeProvider time, CancellationToken cancellationToken)
    {
        var serverBefore = _serverClock.Used();
        var clientBefore = Environment.CpuUsage.TotalTime;
        var startedAt = time.GetTimestamp();
        var callers = Enumerable.Range(0, threads)
            .Select(caller => Task.Run(() => CallInTurnAsync(caller, requests, cancellationToken), CancellationToken.None));
        var outcomes = await Task.WhenAll(callers);
        return new RpcRun(
            time.GetElapsedTime(startedAt).TotalMilliseconds,
            outcomes.Sum(o => (long)o.Done),
            outcomes.Sum(o => (long)o.Failed),
            (Environment.CpuUsage.TotalTime - clientBefore).TotalSeconds,
            (_serverClock.Used() - serverBefore).TotalSeconds);
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _server.StopAsync(StopTimeout);
        await _server.DisposeAsync();
    }

    /// <summary>Creates arguments that start a program without the runtime settings of its own file.</summary>
    private static async Task<string[]> DefaultRuntimeAsync(string program, string folder, CancellationToken cancellationToken)
    {
        var settings = JsonNode.Parse(await File.ReadAllTextAsync(Path.ChangeExtension(program, ".runtimeconfig.json"), cancellationToken))!;
        settings["runtimeOptions"]!.AsObject().Remove("configProperties");
        var file = Path.Combine(folder, "default.runtimeconfig.json");
        await File.WriteAllTextAsync(file, settings.ToJsonString(), cancellationToken);
        return ["exec", "--runtimeconfig", file];
    }

    private async Task<(int Done, int Failed)> CallInTurnAsync(int caller, int requests, CancellationToken cancellationToken)
    {
        var request = EchoMessages.Request(caller);
        var (done, failed) = (0, 0);
        while (done + failed < requests && !cancellationToken.IsCancellationRequested)
        {
            if (await TryCallAsync(caller, request))
            {
                done++;
            }
            else
            {
                failed++;
            }
        }
        return (done, failed);
    }

    private async Task<bool> TryCallAsync(int caller, V1.MakePaymentRequest request)
    {
        try
        {
            return await _client.CallAsync(caller, request);
        }
        catch (Exception e) when (EchoClient.IsFailure(e))
        {
            return false;
        }
    }
}

/// <summary>One run of one side.</summary>
/// <param name="TimeMs">Milliseconds from the start of the first caller to the end of the last.</param>
/// <param name="Calls">Number of calls that were answered correctly.</param>
/// <param name="Errors">Number of other calls.</param>
/// <param name="ClientCpuS">Processor seconds of the client process.</param>
/// <param name="ServerCpuS">Processor seconds of the server process.</param>
internal sealed record RpcRun(double TimeMs, long Calls, long Errors, double ClientCpuS, double ServerCpuS);
