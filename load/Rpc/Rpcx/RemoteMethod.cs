using System.Buffers;
using System.Collections.Frozen;
using System.Reflection;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Rpc.Rpcx;

/// <summary>A call that is waiting for its reply, whatever the type of the reply.</summary>
internal interface IPendingCall
{
    MethodContract Method { get; }

    IMessage Request { get; }

    /// <summary>Ends the call with its reply.</summary>
    void Complete(in ReadOnlySequence<byte> payload);

    /// <summary>Ends the call with an exception.</summary>
    void Fail(Exception exception);
}

/// <summary>A method of a proxy, prepared for calls.</summary>
internal abstract class RemoteMethod
{
    /// <summary>Starts a call.</summary>
    /// <returns>The task that the method returns.</returns>
    public abstract object Call(IMessage request);

    /// <param name="client">Sends the calls.</param>
    public static RemoteMethod Of(RpcxClient client, MethodContract contract) =>
        (RemoteMethod)Activator.CreateInstance(
            typeof(RemoteMethod<>).MakeGenericType(contract.Reply), client, contract)!;
}

internal sealed class RemoteMethod<TReply>(RpcxClient client, MethodContract contract) : RemoteMethod
    where TReply : class, IMessage<TReply>, new()
{
    private static readonly MessageParser<TReply> Parser = new(() => new TReply());

    public override object Call(IMessage request)
    {
        ArgumentNullException.ThrowIfNull(request);
        var call = new PendingCall(contract, request);
        client.Start(call);
        return call.Task;
    }

    // The caller's code continues on another thread than the loop that reads replies, so that a caller that blocks does
    // not delay others.
    private sealed class PendingCall(MethodContract method, IMessage request)
        : TaskCompletionSource<TReply>(TaskCreationOptions.RunContinuationsAsynchronously), IPendingCall
    {
        public MethodContract Method => method;

        public IMessage Request => request;

        public void Complete(in ReadOnlySequence<byte> payload)
        {
            try
            {
                TrySetResult(FrameReader.Parse(Parser, payload));
            }
            catch (InvalidProtocolBufferException e)
            {
                Fail(new RpcxException(StatusCode.Internal, $"The reply is not a {typeof(TReply).Name}.", e));
            }
        }

        public void Fail(Exception exception) => TrySetException(exception);
    }
}

/// <summary>Base class of the generated proxies: it looks up the prepared method and calls it.</summary>
internal class ServiceProxy : DispatchProxy
{
    private FrozenDictionary<MethodInfo, RemoteMethod> _methods = FrozenDictionary<MethodInfo, RemoteMethod>.Empty;

    public static TService Create<TService>(IReadOnlyDictionary<MethodInfo, RemoteMethod> methods)
        where TService : class
    {
        var proxy = Create<TService, ServiceProxy>();
        ((ServiceProxy)(object)proxy)._methods = methods.ToFrozenDictionary();
        return proxy;
    }

    protected override object? Invoke(MethodInfo? targetMethod, object?[]? args) =>
        _methods[targetMethod!].Call((IMessage)args![0]!);
}
