using Billing.Contracts;
using Billing.Proxy.Failures;
using Grpc.Core;
using Grpc.Core.Interceptors;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Calls;

/// <summary>Turns failures into statuses, and gives unexpected ones a reason. A request that cannot be parsed is its
/// sender's mistake and is not logged; any other exception is an error of this program and is logged. The REST front
/// answers such exceptions with the same reason.</summary>
internal sealed partial class CallErrors(IOptions<ProxyOptions> options, ILogger<CallErrors> logger) : Interceptor
{
    private const string StatusTrailer = "grpc-status";
    private const string DetailsTrailer = MetadataExtensions.StatusDetailsTrailerName;

    private static readonly string UnknownCode = Code(StatusCode.Unknown);
    private static readonly string ExhaustedCode = Code(StatusCode.ResourceExhausted);

    public override async Task<TResponse> UnaryServerHandler<TRequest, TResponse>(
        TRequest request, ServerCallContext context, UnaryServerMethod<TRequest, TResponse> continuation)
    {
        try
        {
            return await continuation(request, context);
        }
        catch (Exception e) when (HasAnswer(e, context))
        {
            throw Answer(e, context);
        }
    }

    public override Task ServerStreamingServerHandler<TRequest, TResponse>(
        TRequest request, IServerStreamWriter<TResponse> responseStream, ServerCallContext context,
        ServerStreamingServerMethod<TRequest, TResponse> continuation) =>
        GuardStreamAsync(() => continuation(request, responseStream, context), context);

    public override Task DuplexStreamingServerHandler<TRequest, TResponse>(
        IAsyncStreamReader<TRequest> requestStream, IServerStreamWriter<TResponse> responseStream,
        ServerCallContext context, DuplexStreamingServerMethod<TRequest, TResponse> continuation) =>
        GuardStreamAsync(() => continuation(requestStream, responseStream, context), context);

    private async Task GuardStreamAsync(Func<Task> stream, ServerCallContext context)
    {
        try
        {
            await stream();
        }
        catch (Exception e) when (HasAnswer(e, context))
        {
            throw Answer(e, context);
        }
    }

    /// <summary>The middleware around the services. The gRPC library reads the message of a call before any code of
    /// this project runs. It answers a message that it cannot parse with UNKNOWN, and one that is too large with
    /// RESOURCE_EXHAUSTED, both without details. Their absence distinguishes them from the services' own answers;
    /// details are added here.</summary>
    public async Task InvokeAsync(HttpContext http, RequestDelegate next)
    {
        await next(http);
        // An answer without a message has its trailers in the headers.
        var trailers = http.Response.Headers;
        if (http.Response.HasStarted || !trailers.TryGetValue(StatusTrailer, out var status)
            || trailers.ContainsKey(DetailsTrailer))
        {
            return;
        }
        if (status == UnknownCode)
        {
            GrpcFailure.WriteTrailers(trailers, Malformed);
        }
        else if (status == ExhaustedCode)
        {
            GrpcFailure.WriteTrailers(trailers, TooLarge);
        }
    }

    private static Failure Malformed { get; } =
        new(
            StatusCode.InvalidArgument, ErrorReasons.MalformedMessage,
            "The request cannot be parsed as a message of this method.");

    private Failure TooLarge => new(
        StatusCode.InvalidArgument, ErrorReasons.RequestTooLarge,
        "The request is far larger than Billing:Proxy:RequestBytesMax "
            + $"({options.Value.RequestBytesMax} bytes) allows.");

    // Once the caller is gone, the work for it may end with any exception.
    private static bool HasAnswer(Exception e, ServerCallContext context) =>
        e is FailureException || IsTooLarge(e)
        || (e is not RpcException && !context.CancellationToken.IsCancellationRequested);

    // The library's refusal of a message on a stream.
    private static bool IsTooLarge(Exception e) =>
        e is RpcException { StatusCode: StatusCode.ResourceExhausted } refusal
        && refusal.Trailers.Get(DetailsTrailer) is null;

    private static string Code(StatusCode status) =>
        ((int)status).ToString(System.Globalization.CultureInfo.InvariantCulture);

    private RpcException Answer(Exception e, ServerCallContext context) => (e switch
    {
        FailureException foreseen => foreseen.Failure,
        // Which the library throws for what is no message, or no frame with one. A call of this proxy neither reads nor
        // writes anything else.
        IOException or InvalidDataException => Malformed,
        _ when IsTooLarge(e) => TooLarge,
        _ => Unforeseen(e, context.Method),
    }).ToRpcException();

    /// <summary>Logs an unexpected exception, and returns the failure for the caller,
    /// who is not told its text.</summary>
    internal Failure Unforeseen(Exception cause, string method)
    {
        LogUnforeseen(cause, method);
        return new Failure(StatusCode.Internal, ErrorReasons.Unforeseen, "The proxy could not process the call.");
    }

    [LoggerMessage(1, LogLevel.Error, "{Method} failed with an unexpected exception")]
    private partial void LogUnforeseen(Exception cause, string method);
}
