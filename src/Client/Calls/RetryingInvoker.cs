using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>What the client classes that protoc generates call: each call and each stream goes to the proxies in turn,
/// with the client's token, retries and circuits.</summary>
internal sealed class RetryingInvoker(ProxyCalls calls) : CallInvoker
{
    /// <inheritdoc/>
    public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options, TRequest request)
    {
        var call = new UnaryCall<TRequest, TResponse>(method, host, options, request);
        call.Answer = calls.Unary.RunAsync(call);
        return new AsyncUnaryCall<TResponse>(
            call.Answer,
            static call => ((UnaryCall<TRequest, TResponse>)call).HeadersAsync(),
            static call => ((UnaryCall<TRequest, TResponse>)call).Status,
            static call => ((UnaryCall<TRequest, TResponse>)call).Trailers,
            static call => ((UnaryCall<TRequest, TResponse>)call).GiveUp(),
            call);
    }

    /// <inheritdoc/>
    public override TResponse BlockingUnaryCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options, TRequest request) =>
        AsyncUnaryCall(method, host, options, request).GetAwaiter().GetResult();

    /// <inheritdoc/>
    public override AsyncServerStreamingCall<TResponse> AsyncServerStreamingCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options, TRequest request)
    {
        if (request is not ListStatementRequest question)
        {
            throw NotKnown(method);
        }
        var pages = new StreamedAnswers<ListStatementResponse>(
            token => StatementReader.ReadAsync(calls.Streams(method.FullName[1..], options.Headers), question, token),
            options, calls.Time);
        return (AsyncServerStreamingCall<TResponse>)(object)new AsyncServerStreamingCall<ListStatementResponse>(
            pages, Task.FromResult(Metadata.Empty), () => pages.Status, () => Metadata.Empty, pages.Dispose);
    }

    /// <inheritdoc/>
    public override AsyncDuplexStreamingCall<TRequest, TResponse> AsyncDuplexStreamingCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options)
    {
        if (typeof(TRequest) != typeof(MakePaymentRequest))
        {
            throw NotKnown(method);
        }
        var requests = new StreamedRequests<MakePaymentRequest>(calls.StreamWindow);
        var answers = new StreamedAnswers<MakePaymentsResponse>(
            token => MessagesOf(calls.Bulk(options.Headers).RunAsync(requests.ReadAllAsync(), token), requests),
            options, calls.Time);
        answers.Ended.Register(requests.End);
        object call = new AsyncDuplexStreamingCall<MakePaymentRequest, MakePaymentsResponse>(
            requests, answers, Task.FromResult(Metadata.Empty), () => answers.Status, () => Metadata.Empty,
            answers.Dispose);
        return (AsyncDuplexStreamingCall<TRequest, TResponse>)call;
    }

    /// <inheritdoc/>
    public override AsyncClientStreamingCall<TRequest, TResponse> AsyncClientStreamingCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options) => throw NotKnown(method);

    // How a stream is continued at another proxy depends on its messages.
    private static NotSupportedException NotKnown(IMethod method) =>
        new($"This client knows no stream {method.FullName}.");

    private static async IAsyncEnumerable<MakePaymentsResponse> MessagesOf(
        IAsyncEnumerable<BulkAnswer> answers, StreamedRequests<MakePaymentRequest> requests)
    {
        try
        {
            await foreach (var answer in answers.ConfigureAwait(false))
            {
                yield return answer.Message;
            }
        }
        finally
        {
            requests.End();
        }
    }
}
