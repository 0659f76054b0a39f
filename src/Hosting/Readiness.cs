using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace Billing.Hosting;

/// <summary>A part of a service that must be ready before the service can accept work.</summary>
public interface IReadyPart
{
    /// <summary>Why no work can be accepted, as text without a full stop, e.g.
    /// <c>the end of the events is not known yet</c>; null if the part is ready. Anybody may ask for it: the text of an
    /// exception belongs in the log.</summary>
    string? NotReadyReason { get; }
}

/// <summary>The liveness and readiness of a service, with the reasons if it is not ready.</summary>
public sealed class Readiness(IEnumerable<IReadyPart> parts, Supervisor supervisor)
{
    private readonly IReadyPart[] _parts = [.. parts];

    /// <summary>The reasons why the service is not ready; empty if it is ready.</summary>
    public IReadOnlyList<string> Reasons =>
        [.. new[] { supervisor.FailureReason }.Concat(_parts.Select(part => part.NotReadyReason)).OfType<string>()];

    /// <summary>Maps <c>/health/live</c> and <c>/health/ready</c>, for clients that cannot use gRPC health checks:
    /// they return 200, or 503 with the reasons.</summary>
    public void Map(IEndpointRouteBuilder routes)
    {
        var health = routes.MapGroup("/health").AllowAnonymous().ExcludeFromDescription();
        health.MapGet("/live", () => supervisor.FailureReason is { } why ? Not("live", why) : Results.Text("live"));
        health.MapGet(
            "/ready",
            () => Reasons is { Count: > 0 } reasons ? Not("ready", string.Join("; ", reasons)) : Results.Text("ready"));
    }

    private static IResult Not(string what, string why) =>
        Results.Text($"not {what}: {why}", statusCode: StatusCodes.Status503ServiceUnavailable);
}
