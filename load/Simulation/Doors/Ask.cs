using Billing.Proxy.Failures;
using Billing.V1;
using Google.Protobuf;
using Google.Rpc;
using Grpc.Core;

namespace Billing.Simulation.Doors;

/// <summary>The door by which a request goes in.</summary>
internal enum Door
{
    /// <summary>A URL and JSON.</summary>
    Rest,

    /// <summary>A gRPC method.</summary>
    Grpc,

    /// <summary>The SDK, which chooses the proxy and retries.</summary>
    Sdk,
}

/// <summary>A kind of request, as a proxy serves it.</summary>
internal interface IAsk
{
    /// <summary>Answers a request by gRPC.</summary>
    /// <exception cref="RpcException">It was refused, or failed.</exception>
    Task<object> ServeAsync(ProxyDoors proxy, object request, DateTime deadline);
}

/// <summary>A kind of request, and how it is made by each door.</summary>
/// <typeparam name="TRequest">The request, as the contract has it.</typeparam>
/// <typeparam name="TAnswer">The answer to it.</typeparam>
internal sealed class Ask<TRequest, TAnswer> : IAsk
    where TRequest : class, IMessage<TRequest>, new()
    where TAnswer : class, IMessage<TAnswer>, new()
{
    private static readonly MessageParser<TRequest> Requests = new(() => new TRequest());
    private static readonly MessageParser<TAnswer> Answers = new(() => new TAnswer());

    /// <summary>Whether it changes an account, and so has an id that it can be repeated under.</summary>
    public bool IsWrite { get; init; }

    /// <summary>The request by URL and JSON; the letters are those of names.</summary>
    public required Func<TRequest, Letters, RestAsk> ToRest { get; init; }

    /// <summary>The answer in a body; as the contract's own JSON, if it is that.</summary>
    public Func<string, TAnswer> FromRest { get; init; } = RestJson.Read<TAnswer>;

    /// <summary>The method of the service.</summary>
    public required Func<ProxyDoors, UnaryServerMethod<TRequest, TAnswer>> Method { get; init; }

    /// <summary>The method of the class that protoc generates.</summary>
    public required Func<Stubs, TRequest, CallOptions, AsyncUnaryCall<TAnswer>> Call { get; init; }

    /// <summary>Makes a request to a proxy.</summary>
    /// <exception cref="FailureException">It was refused, or failed.</exception>
    public async Task<TAnswer> MakeAsync(
        ProxyDoors proxy, Door door, TRequest request, Letters letters, TimeSpan deadline, DateTime now)
    {
        if (door == Door.Rest)
        {
            var answer = await proxy.AnswerAsync(
                ToRest(request, letters) with { TimeoutMs = (int)deadline.TotalMilliseconds });
            return answer.Status == 200
                ? FromRest(answer.Body)
                : throw new FailureException(RestJson.FailureOf(answer));
        }
        try
        {
            return await ServeAsync(proxy, request, now + deadline);
        }
        catch (RpcException e)
        {
            throw new FailureException(GrpcFailures.Of(e));
        }
    }

    async Task<object> IAsk.ServeAsync(ProxyDoors proxy, object request, DateTime deadline) =>
        await ServeAsync(proxy, (TRequest)request, deadline);

    private async Task<TAnswer> ServeAsync(ProxyDoors proxy, TRequest request, DateTime deadline)
    {
        var received = Requests.ParseFrom(request.ToByteArray());
        var context = new GrpcCall(typeof(TRequest).Name, deadline);
        var answer = await proxy.Errors.UnaryServerHandler(received, context, Method(proxy));
        return Answers.ParseFrom(answer.ToByteArray());
    }
}

/// <summary>The classes that protoc generates.</summary>
/// <param name="calls">Makes their calls.</param>
internal sealed class Stubs(CallInvoker calls)
{
    /// <summary>That of the public service.</summary>
    public BillingService.BillingServiceClient Billing { get; } = new(calls);

    /// <summary>That of the operators' service.</summary>
    public BillingAdminService.BillingAdminServiceClient Admin { get; } = new(calls);
}

/// <summary>Failures of gRPC calls, as callers read them.</summary>
internal static class GrpcFailures
{
    /// <summary>The failure in a status and its details.</summary>
    public static Failure Of(RpcException e)
    {
        var details = e.GetRpcStatus();
        return new(e.StatusCode, details?.GetDetail<ErrorInfo>()?.Reason ?? "", e.Status.Detail)
        {
            Field = details?.GetDetail<BadRequest>()?.FieldViolations.Single().Field ?? "",
        };
    }
}
