using System.Collections.Concurrent;
using System.Diagnostics;
using Billing.Backends.CardNetwork;
using Billing.Backends.Payments.InFlight;
using Billing.Backends.Telemetry;
using Billing.Hosting;
using Billing.Hosting.Telemetry;

namespace Billing.Backends.Payments;

/// <summary>Has the card network authorise commands. All its calls run at the same time, but the commands of an account
/// are passed on in the order in which they came. Thread-safe.</summary>
internal sealed class Authorisation(SimulatedCardNetwork network, Supervisor supervisor)
{
    private readonly ConcurrentDictionary<string, PendingCommand> _lastOfAccount = new(StringComparer.Ordinal);

    /// <summary>Begins to authorise a command.</summary>
    /// <param name="command">A command that is not recorded yet.</param>
    /// <param name="next">Gets the command when it is authorised.</param>
    /// <param name="cancellationToken">Ends the call of the network.</param>
    public void Begin(PendingCommand command, Action<PendingCommand> next, CancellationToken cancellationToken)
    {
        var authorised =
            command.Kind.NeedsAuthorisation ? network.AuthoriseAsync(cancellationToken) : Task.CompletedTask;
        var before = _lastOfAccount.GetValueOrDefault(command.StreamId)?.Turn ?? Task.CompletedTask;
        if (authorised.IsCompletedSuccessfully && before.IsCompletedSuccessfully)
        {
            next(command);
            return;
        }
        _lastOfAccount[command.StreamId] = command;
        command.Turn = TakeTurnAsync(
            command, next,
            authorised.IsCompletedSuccessfully ? authorised : MeasuredAsync(command, authorised), before);
        supervisor.Watch("Authorising", command.Turn);
    }

    private static async Task MeasuredAsync(PendingCommand command, Task authorised)
    {
        var span = Tracing.Start("card network", ActivityKind.Client, command.Processing?.Context ?? default);
        var since = BackendMetrics.Now;
        try
        {
            await authorised;
            BackendMetrics.Took("card_network", since);
        }
        finally
        {
            Tracing.End(span);
        }
    }

    private async Task TakeTurnAsync(PendingCommand command, Action<PendingCommand> next, Task authorised, Task before)
    {
        await authorised;
        await before;
        next(command);
        _lastOfAccount.TryRemove(KeyValuePair.Create(command.StreamId, command));
    }
}
