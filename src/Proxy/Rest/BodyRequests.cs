using System.Text.Json.Serialization.Metadata;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Google.Protobuf;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Rest;

/// <summary>Answers requests whose fields come in a body.</summary>
internal sealed class BodyRequests(RequestHandler handler, IOptions<ProxyOptions> options, TimeProvider time)
{
    /// <summary>Answers a request.</summary>
    /// <param name="http">The call.</param>
    /// <param name="kind">The kind of request.</param>
    /// <param name="bodyType">How the body is read.</param>
    /// <param name="toRequest">The request that the body states.</param>
    /// <param name="answerType">How the answer is written.</param>
    /// <param name="toAnswer">The answer that the response states.</param>
    /// <exception cref="Failures.FailureException">The request cannot be read, or is refused.</exception>
    public Task<IResult> AnswerAsync<TBody, TRequest, TResponse, TAnswer>(
        HttpContext http, RequestKind<TRequest, TResponse> kind, JsonTypeInfo<TBody> bodyType,
        Func<TBody, TRequest> toRequest, JsonTypeInfo<TAnswer> answerType, Func<TResponse, TAnswer> toAnswer)
        where TBody : class
        where TRequest : class, IMessage<TRequest>
        where TResponse : class =>
        AnswerAsync(
            http, bodyType, toRequest,
            async (request, call) => (await handler.HandleAsync(kind, request, call)).Value, answerType, toAnswer);

    /// <summary>Answers a request that is handled in a way of its own.</summary>
    /// <param name="http">The call.</param>
    /// <param name="bodyType">How the body is read.</param>
    /// <param name="toRequest">The request that the body states.</param>
    /// <param name="handle">Handles it.</param>
    /// <param name="answerType">How the answer is written.</param>
    /// <param name="toAnswer">The answer that the response states.</param>
    /// <exception cref="Failures.FailureException">The request cannot be read, or is refused.</exception>
    public async Task<IResult> AnswerAsync<TBody, TRequest, TResponse, TAnswer>(
        HttpContext http, JsonTypeInfo<TBody> bodyType, Func<TBody, TRequest> toRequest,
        Func<TRequest, IncomingCall, Task<TResponse>> handle,
        JsonTypeInfo<TAnswer> answerType, Func<TResponse, TAnswer> toAnswer)
        where TBody : class
    {
        var call = RestRequest.CallOf(http, time);
        RestRequest.CheckQuery(http);
        var request = toRequest(await RestRequest.BodyAsync(http, bodyType, options.Value.RequestBytesMax));
        return new JsonAnswer<TAnswer>(toAnswer(await handle(request, call)), answerType);
    }
}
