using Billing.Cli.Arguments;
using Billing.Cli.Monitoring;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Measuring;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Background;

/// <summary>The stack in the background: <c>up</c>, <c>status</c>, <c>down</c>.</summary>
internal sealed class BackgroundStack(IAnsiConsole console)
{
    private static readonly TimeSpan StopBound = TimeSpan.FromSeconds(30);

    public async Task<int> UpAsync(StackOptions options, bool withMonitoring, CancellationToken cancellationToken)
    {
        if (await StackState.ReadAsync() is { } running && running.Processes.Any(p => p.Identity.IsRunning))
        {
            console.WriteLine("A stack is already running; `./billing status` shows it, `./billing down` stops it.");
            return 1;
        }
        await using var stack = await Starting.StackAsync(
            options with { Detached = true, CredentialsFolder = StackInBackground.Credentials },
            console, cancellationToken);
        var state = StackState.Of(stack);
        await state.WriteAsync();
        // The keeper reads the state that was just written. It must be stopped first, because it would restart
        // the other processes.
        var keeper = Keeper.Start(stack.Folder);
        state = state with
        {
            Processes = [new StackProcess(keeper.Name, keeper.Identity, Signal.Terminate, null), .. state.Processes],
        };
        await state.WriteAsync();
        if (withMonitoring)
        {
            state = await WatchAsync(stack, cancellationToken);
        }
        Print(state);
        if (options.Webhook is { } webhook)
        {
            console.WriteLine($"Webhook    {webhook.Url}, signed with {webhook.Secret}");
        }
        return 0;
    }

    public async Task<int> StatusAsync()
    {
        if (await StackState.ReadAsync() is not { } state)
        {
            console.WriteLine("No stack is running.");
            return 1;
        }
        Print(state);
        return state.Processes.All(p => p.Identity.IsRunning) ? 0 : 1;
    }

    public async Task<int> DownAsync()
    {
        if (await StackState.ReadAsync() is not { } state)
        {
            console.WriteLine("No stack is running.");
            return 0;
        }
        await StopAsync(state.Processes.TakeWhile(process => process.Restart is null));
        // Read again, because the keeper may have restarted a process until it stopped.
        state = await StackState.ReadAsync() ?? state;
        await StopAsync(state.Processes);
        if (Directory.Exists(state.Folder))
        {
            await StackFolder.Adopt(state.Folder).DisposeAsync();
        }
        StackState.Delete();
        ProcessorsFlag.CleanUp();
        console.WriteLine("The stack is stopped and its data is deleted.");
        return 0;
    }

    /// <summary>Starts Prometheus; if it fails to start, the stack keeps running, and the
    /// error message says so.</summary>
    private static async Task<StackState> WatchAsync(BillingStack stack, CancellationToken cancellationToken)
    {
        try
        {
            var (prometheus, address) = await LocalPrometheus.StartAsync(stack, cancellationToken);
            // Read again, because the keeper may have changed the state.
            var state = await StackState.ReadAsync()
                ?? throw new StackException("The stack was stopped in the meantime.");
            state = state with
            {
                Processes =
                [
                    .. state.Processes,
                    new StackProcess(prometheus.Name, prometheus.Identity, Signal.Terminate, address),
                ],
            };
            await state.WriteAsync();
            return state;
        }
        catch (StackException e)
        {
            throw new StackException(e.Message + "\nThe stack itself is running; `./billing down` stops it.", e);
        }
    }

    private static async Task StopAsync(IEnumerable<StackProcess> processes)
    {
        foreach (var process in processes)
        {
            await process.Identity.StopAsync(process.StopSignal, StopBound);
        }
    }

    private void Print(StackState state)
    {
        var table = new Table().Border(TableBorder.Rounded).AddColumns("Process", "Id", "State", "Address");
        foreach (var process in state.Processes)
        {
            table.AddRow(
                process.Name, process.Identity.Id.ToString(),
                process.Identity.IsRunning ? "running" : "[red]stopped[/]", process.Address ?? "");
        }
        console.Write(table);
        console.WriteLine(
            $"Transport  {state.Transport}{(state.Protocol is { } protocol ? " over " + protocol : "")}"
            + $"{(state.BootstrapServers is { } brokers ? ", brokers " + brokers : "")}");
        console.WriteLine($"Proxies    {string.Join(',', state.Proxies)}");
        console.WriteLine($"REST       {string.Join(',', state.Rest)} (a live page at /, documentation at /docs)");
        if (state.Admin.Count > 0)
        {
            console.WriteLine($"Operators  {string.Join(',', state.Admin)}");
            console.WriteLine(
                $"CA file    {Path.Combine(StackInBackground.Credentials, "ca.pem")} (./billing token --help)");
        }
        foreach (var (name, connection) in state.Databases)
        {
            console.WriteLine($"PostgreSQL {connection}{(state.Databases.Count > 1 ? $" ({name})" : "")}");
        }
        console.WriteLine($"Logs       {state.Logs}");
    }
}
