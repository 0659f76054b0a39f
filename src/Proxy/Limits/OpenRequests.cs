using Billing.Proxy.Failures;
using Billing.Proxy.Memory;
using Billing.Proxy.Security;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Microsoft.Extensions.Primitives;

namespace Billing.Proxy.Limits;

/// <summary>The first middleware: takes memory for each request by the address that it comes from, before anything of
/// it is read or looked at, and holds it until the answer is sent.</summary>
internal sealed class OpenRequests(SecurityLog log, TimeProvider time)
{
    // What the server holds of an answer whose writer goes on: the place of a request has room for it.
    private const int LeftBytesMax = 4 * 1024;

    /// <summary>Serves a request, or refuses it if its address has too much open.</summary>
    public Task InvokeAsync(HttpContext http, RequestDelegate next)
    {
        if (http.Features.Get<CallerConnection>() is not { } connection)
        {
            return next(http);
        }
        var stream = http.Features.Get<IHttp2StreamIdFeature>()?.StreamId ?? 0;
        var bytes = connection.HasMuch ? BytesOf(http.Request.Headers) : ProxyMemory.RequestBytes;
        var isServed = connection.TryOpen(stream, bytes);
        return ServeAsync(http, isServed ? next : Refuse, connection, stream);
    }

    private async Task ServeAsync(HttpContext http, RequestDelegate serve, CallerConnection connection, int stream)
    {
        try
        {
            await serve(http);
            if (http.Response.BodyWriter is { CanGetUnflushedBytes: true, UnflushedBytes: > LeftBytesMax })
            {
                await SendAsync(http);
            }
        }
        finally
        {
            connection.End(stream, http.RequestAborted.IsCancellationRequested);
        }
    }

    // A large answer: what its handler holds is held until the caller has taken nearly all of it.
    private async Task SendAsync(HttpContext http)
    {
        using var late = new CancellationTokenSource(CallerConnection.UnreadMax, time);
        try
        {
            await http.Response.BodyWriter.FlushAsync(late.Token);
        }
        catch (OperationCanceledException)
        {
            http.Abort();
        }
    }

    private Task Refuse(HttpContext http)
    {
        var failure = Failure.OutOfMemory("address", "open requests");
        log.Refused(Caller.Of(http), failure, "open requests");
        AccessRefusals.Answer(http, failure, GrpcEndpoints.LooksLikeGrpc(http.Request));
        return Task.CompletedTask;
    }

    // Two bytes for each character.
    private static long BytesOf(IHeaderDictionary headers)
    {
        var characters = 0L;
        foreach (var (name, values) in headers)
        {
            characters += name.Length + LengthOf(values);
        }
        return ProxyMemory.RequestBytes + (2 * characters);
    }

    private static int LengthOf(StringValues values)
    {
        var length = 0;
        for (var i = 0; i < values.Count; i++)
        {
            length += values[i]?.Length ?? 0;
        }
        return length;
    }
}
