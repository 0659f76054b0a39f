using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Memory;
using Billing.Proxy.Security;
using Grpc.AspNetCore.Server;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Limits;

/// <summary>Takes memory for what callers have begun to send, by caller. The one message of a call waits here until it
/// is whole, so that the rest of the proxy never waits for bytes; one that comes whole at once, as most do, takes
/// nothing. A stream of messages takes its window for as long as it is open.</summary>
internal sealed class RequestBodies(
    IOptions<ProxyOptions> options, ProxyMemory memory, Admission admission, TimeProvider time)
{
    /// <summary>How long a request may take to come whole.</summary>
    public static readonly TimeSpan TimeMax = TimeSpan.FromSeconds(30);

    /// <summary>What its caller is told otherwise.</summary>
    public static readonly string LateMessage = $"The request did not come whole within {TimeMax.TotalSeconds} s.";

    // A message is preceded by a flag and its length.
    private const int PrefixBytes = 5;

    /// <summary>The middleware for calls of gRPC.</summary>
    public Task InvokeAsync(HttpContext http, RequestDelegate next) =>
        http.GetEndpoint()?.Metadata.GetMetadata<GrpcMethodMetadata>()?.Method.Type switch
        {
            null => next(http),
            MethodType.Unary or MethodType.ServerStreaming => IsWhole(http) ? next(http) : GatherAsync(http, next),
            _ => StreamAsync(http, next),
        };

    /// <summary>Begins to gather a body of which a part has come.</summary>
    public Body Begin(HttpContext http) => new(Take(http), time, http.RequestAborted);

    private static bool IsWhole(HttpContext http)
    {
        var body = http.Request.BodyReader;
        if (!body.TryRead(out var read))
        {
            return false;
        }
        body.AdvanceTo(read.Buffer.Start);
        return read.IsCompleted;
    }

    private async Task GatherAsync(HttpContext http, RequestDelegate next)
    {
        var reader = http.Request.BodyReader;
        using (var body = Begin(http))
        {
            try
            {
                while (true)
                {
                    var read = await reader.ReadAsync(body.Token);
                    if (read.IsCompleted || read.Buffer.Length > options.Value.RequestBytesRead + PrefixBytes)
                    {
                        // The library reads it now, or refuses it for its length.
                        reader.AdvanceTo(read.Buffer.Start);
                        break;
                    }
                    reader.AdvanceTo(read.Buffer.Start, read.Buffer.End);
                    body.Grow(read.Buffer.Length);
                }
            }
            catch (FailureException e)
            {
                AccessRefusals.Answer(http, e.Failure);
                return;
            }
            catch (Exception e) when (e is OperationCanceledException or IOException)
            {
                if (body.IsLate)
                {
                    AccessRefusals.Answer(http, Late);
                }
                return;
            }
        }
        await next(http);
    }

    private async Task StreamAsync(HttpContext http, RequestDelegate next)
    {
        using var window = Take(http);
        if (!window.TryGrow(ProxyOptions.StreamWindowBytes))
        {
            AccessRefusals.Answer(http, Failure.OutOfMemory("caller", "open streams"));
            return;
        }
        await next(http);
    }

    private MemoryPart.Piece Take(HttpContext http) =>
        new(memory.Bodies, admission.ShareOf(Caller.Of(http)).Bodies);

    private static Failure Late { get; } =
        new(StatusCode.InvalidArgument, ErrorReasons.MalformedMessage, LateMessage);

    /// <summary>A body that comes in parts.</summary>
    internal sealed class Body : IDisposable
    {
        // The server keeps the parts in blocks of this size.
        private const int BlockBytes = 4096;

        private readonly MemoryPart.Piece _piece;
        private readonly CancellationTokenSource _late;
        private readonly CancellationTokenSource _ended;

        public Body(MemoryPart.Piece piece, TimeProvider time, CancellationToken gone)
        {
            _piece = piece;
            _late = new CancellationTokenSource(TimeMax, time);
            _ended = CancellationTokenSource.CreateLinkedTokenSource(_late.Token, gone);
        }

        /// <summary>Cancelled when the caller is gone, or the body has not come whole in time.</summary>
        public CancellationToken Token => _ended.Token;

        /// <summary>Whether it has not come whole in time.</summary>
        public bool IsLate => _late.IsCancellationRequested;

        /// <summary>Takes memory for what has come of it until now.</summary>
        /// <exception cref="FailureException">RESOURCE_EXHAUSTED: the caller has too much already.</exception>
        public void Grow(long length)
        {
            if (!_piece.TryGrow((length + BlockBytes - 1) / BlockBytes * BlockBytes))
            {
                throw new FailureException(Failure.OutOfMemory("caller", "unfinished requests"));
            }
        }

        public void Dispose()
        {
            _piece.Dispose();
            _ended.Dispose();
            _late.Dispose();
        }
    }
}
