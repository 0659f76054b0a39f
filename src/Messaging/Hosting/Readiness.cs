using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace Billing.Messaging.Hosting;

/// <summary>Something that a service cannot take work without.</summary>
public interface IReadyPart
{
    /// <summary>Why no work can be taken, for a person, without a full stop, e.g. <c>event store away for 12 s</c>; null where
    /// it can.</summary>
    string? WhyNotReady { get; }
}

/// <summary>Whether a service lives and takes work, and why not.</summary>
/// <param name="parts">What it needs.</param>
/// <param name="supervisor">Knows which loop has failed.</param>
public sealed class Readiness(IEnumerable<IReadyPart> parts, Supervisor supervisor)
{
    private readonly IReadyPart[] _parts = [.. parts];

    /// <summary>Why the service is not ready; none where it is.</summary>
    public IReadOnlyList<string> Reasons =>
        [.. new[] { supervisor.WhyFailed }.Concat(_parts.Select(part => part.WhyNotReady)).OfType<string>()];

    /// <summary>Maps <c>/health/live</c> and <c>/health/ready</c>, for those who cannot ask over gRPC: 200, or 503 with the
    /// reasons.</summary>
    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapGet("/health/live", () => supervisor.WhyFailed is { } why ? Not("live", why) : Results.Text("live"))
            .AllowAnonymous()
            .ExcludeFromDescription();
        routes.MapGet("/health/ready", () => Reasons is { Count: > 0 } reasons ? Not("ready", string.Join("; ", reasons)) : Results.Text("ready"))
            .AllowAnonymous()
            .ExcludeFromDescription();
    }

    private static IResult Not(string what, string why) =>
        Results.Text($"not {what}: {why}", statusCode: StatusCodes.Status503ServiceUnavailable);
}
