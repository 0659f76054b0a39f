using Grpc.Core;
using static Billing.Contracts.Health.V1.HealthCheckResponse.Types;
using Protocol = Billing.Contracts.Health.V1;

namespace Billing.Proxy.Health;

/// <summary>The standard gRPC health service over a <see cref="ServingState"/>.</summary>
/// <param name="state">What to report.</param>
/// <param name="lifetime">Ends watches when the process stops; an open watch would hold up its shutdown.</param>
public sealed class HealthService(ServingState state, IHostApplicationLifetime lifetime)
    : Protocol.Health.HealthBase
{
    /// <summary>Answers with the current state of one service.</summary>
    /// <exception cref="RpcException">NOT_FOUND: no such service.</exception>
    public override Task<Protocol.HealthCheckResponse> Check(
        Protocol.HealthCheckRequest request, ServerCallContext context)
    {
        var status = state.Find(request.Service)
            ?? throw new RpcException(new Status(StatusCode.NotFound, $"unknown service \"{request.Service}\""));
        return Task.FromResult(ResponseOf(status));
    }

    /// <summary>Answers with the current state of every known service.</summary>
    public override Task<Protocol.HealthListResponse> List(
        Protocol.HealthListRequest request, ServerCallContext context)
    {
        var response = new Protocol.HealthListResponse();
        foreach (var (service, status) in state.Snapshot())
        {
            response.Statuses[service] = ResponseOf(status);
        }

        return Task.FromResult(response);
    }

    /// <summary>
    /// Answers with the current state of one service and then each change. When the process stops, the last state sent is
    /// NOT_SERVING.
    /// </summary>
    public override async Task Watch(
        Protocol.HealthCheckRequest request,
        IServerStreamWriter<Protocol.HealthCheckResponse> responseStream,
        ServerCallContext context)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(
            context.CancellationToken, lifetime.ApplicationStopping);
        ServingStatus? last = null;
        try
        {
            await foreach (var status in state.Watch(request.Service, ended.Token))
            {
                await responseStream.WriteAsync(ResponseOf(status), context.CancellationToken);
                last = status;
            }
        }
        catch (OperationCanceledException) when (ended.IsCancellationRequested)
        {
            if (!context.CancellationToken.IsCancellationRequested && last != ServingStatus.NotServing)
            {
                await responseStream.WriteAsync(ResponseOf(ServingStatus.NotServing), context.CancellationToken);
            }
        }
    }

    private static Protocol.HealthCheckResponse ResponseOf(ServingStatus status) => new() { Status = status };
}
