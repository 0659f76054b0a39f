using Billing.Backends;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Embedded;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Rpc.Backends;

/// <summary>Executes commands for every protocol of the direct transport: checks a command, has it processed in this
/// process, and returns the answer. Until the processors have started, it answers UNAVAILABLE.</summary>
public sealed partial class CommandExecutor(
    EmbeddedTransport processors, IOptions<BackendOptions> options,
    Supervisor supervisor, ILogger<CommandExecutor> logger)
    : Worker(supervisor), IReadyPart
{
    private readonly int _inFlightMax = options.Value.InFlightMax;
    private int _inFlight;
    private volatile bool _ready;

    /// <inheritdoc/>
    public string? NotReadyReason => _ready ? null : "the backend is starting or stopping";

    /// <summary>Processes a command, whether or not its sender still waits. The command's deadline ends the
    /// wait for the answer.</summary>
    /// <returns>The answer, or an error.</returns>
    public async Task<Reply> ExecuteAsync(Command command)
    {
        if (WireFormat.Refusal(command) is { } refusal)
        {
            Refused(refusal);
            return Replies.Error(
                0, StatusCode.Internal, ErrorReasons.ProcessingFailed, "The command was refused: " + refusal);
        }
        if (!_ready)
        {
            return Replies.Error(
                0, StatusCode.Unavailable, ErrorReasons.BackendUnavailable,
                "The backend that serves this account is starting or stopping.");
        }
        if (Interlocked.Increment(ref _inFlight) > _inFlightMax)
        {
            Interlocked.Decrement(ref _inFlight);
            return Replies.Error(
                0, StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight,
                $"The backend that serves this account has {_inFlightMax} commands in flight "
                    + "(Billing:Backend:InFlightMax).");
        }
        try
        {
            return await processors.SendAsync(Request.Of(command));
        }
        finally
        {
            Interlocked.Decrement(ref _inFlight);
        }
    }

    /// <summary>Stops accepting commands, then stops the processors.</summary>
    public override async Task StopAsync(CancellationToken cancellationToken)
    {
        _ready = false;
        await base.StopAsync(cancellationToken);
        await processors.StopAsync(cancellationToken);
    }

    /// <inheritdoc/>
    public override async Task RunAsync(CancellationToken stopping)
    {
        // Not in StartAsync: while the processors start, the process already reports that it is live, and not ready.
        await processors.StartAsync(stopping);
        _ready = true;
        await Task.Delay(Timeout.InfiniteTimeSpan, stopping);
    }

    [LoggerMessage(260, LogLevel.Warning, "A command was refused: {Refusal}")]
    private partial void Refused(string refusal);
}
