using System.Buffers;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Rpc.Rpcx;

/// <summary>A published method, prepared for calls.</summary>
internal abstract class ServerMethod
{
    public required string Name { get; init; }

    /// <summary>Starts a call; its answer is sent when it ends.</summary>
    public abstract void Start(ServerConnection connection, ulong id, in ReadOnlySequence<byte> payload);

    public static ServerMethod Of(MethodContract contract, object implementation, RpcxDispatch dispatch)
    {
        var handler = contract.Method.CreateDelegate(
            typeof(Func<,>).MakeGenericType(contract.Request, contract.Method.ReturnType), implementation);
        var type = typeof(PublishedMethod<,>).MakeGenericType(contract.Request, contract.Reply);
        return (ServerMethod)Activator.CreateInstance(type, contract.Name, handler, dispatch)!;
    }
}

internal sealed class PublishedMethod<TRequest, TReply> : ServerMethod
    where TRequest : class, IMessage<TRequest>, new()
    where TReply : class, IMessage<TReply>
{
    private static readonly MessageParser<TRequest> Parser = new(() => new TRequest());

    private readonly Func<TRequest, Task<TReply>> _handler;
    private readonly RpcxDispatch _dispatch;

    [System.Diagnostics.CodeAnalysis.SetsRequiredMembers]
    public PublishedMethod(string name, Func<TRequest, Task<TReply>> handler, RpcxDispatch dispatch) =>
        (Name, _handler, _dispatch) = (name, handler, dispatch);

    public override void Start(ServerConnection connection, ulong id, in ReadOnlySequence<byte> payload)
    {
        TRequest request;
        try
        {
            request = FrameReader.Parse(Parser, payload);
        }
        catch (InvalidProtocolBufferException)
        {
            connection.Fail(
                id, Name,
                new RpcxException(StatusCode.InvalidArgument, $"The request is not a valid message for {Name}."));
            return;
        }
        if (_dispatch == RpcxDispatch.Inline)
        {
            Run(connection, id, request);
        }
        else
        {
            ThreadPool.UnsafeQueueUserWorkItem(
                static call => call.Method.AnswerLater(call.Connection, call.Id, call.Method.HandleAsync(call.Request)),
                (Method: this, Connection: connection, Id: id, Request: request), preferLocal: false);
        }
    }

    // An answer that is there at once is sent with others.
    private void Run(ServerConnection connection, ulong id, TRequest request)
    {
        var answering = HandleAsync(request);
        if (answering.IsCompletedSuccessfully)
        {
            connection.Answer(id, Name, answering.Result, isHeld: true);
            return;
        }
        AnswerLater(connection, id, answering);
    }

    private Task<TReply> HandleAsync(TRequest request)
    {
        try
        {
            return _handler(request) ?? throw new InvalidOperationException("It returned null.");
        }
        catch (Exception e)
        {
            return Task.FromException<TReply>(e);
        }
    }

    private async void AnswerLater(ServerConnection connection, ulong id, Task<TReply> answering)
    {
        try
        {
            connection.Answer(id, Name, await answering, isHeld: false);
        }
        catch (Exception e)
        {
            connection.Fail(id, Name, e);
        }
    }
}
