using System.Buffers;
using Billing.Rpc.Rpcx.Wire;
using Google.Protobuf;

namespace Billing.Rpc.Rpcx.Serving;

/// <summary>A published method, prepared for calls.</summary>
internal abstract class ServerMethod
{
    /// <summary>Starts a call; its answer is sent when it ends.</summary>
    public abstract void Start(ServerConnection connection, in FrameHeader header, in ReadOnlySequence<byte> payload);
}

internal sealed class ServerMethod<TRequest, TReply>(
    string name, Func<TRequest, RpcxCallOptions, Task<TReply>> handler, RpcxDispatch dispatch) : ServerMethod
    where TRequest : class, IMessage<TRequest>, new()
    where TReply : class, IMessage<TReply>
{
    private readonly MessageParser<TRequest> _parser = new(() => new TRequest());

    public override void Start(ServerConnection connection, in FrameHeader header, in ReadOnlySequence<byte> payload)
    {
        TRequest request;
        try
        {
            request = FrameReader.Parse(_parser, payload);
        }
        catch (InvalidProtocolBufferException)
        {
            connection.RefuseRequest(header.CallId, name);
            return;
        }
        var call = connection.Begin(header);
        if (dispatch == RpcxDispatch.Inline)
        {
            Run(connection, call, request);
        }
        else
        {
            connection.Enter(call);
            ThreadPool.UnsafeQueueUserWorkItem(
                static queued => queued.Method.RunQueued(queued.Connection, queued.Call, queued.Request),
                (Method: this, Connection: connection, Call: call, Request: request), preferLocal: false);
        }
    }

    private void RunQueued(ServerConnection connection, ServerCall call, TRequest request)
    {
        if (call.IsCancellationRequested)
        {
            connection.End(call);
            return;
        }
        Run(connection, call, request);
    }

    private void Run(ServerConnection connection, ServerCall call, TRequest request)
    {
        Task<TReply> answering;
        try
        {
            answering = handler(request, call.Options) ?? throw new InvalidOperationException("It returned null.");
        }
        catch (Exception e)
        {
            connection.Fail(call, name, e);
            return;
        }
        if (answering.IsCompletedSuccessfully)
        {
            connection.Answer(call, name, answering.Result);
            return;
        }
        if (!call.IsEntered)
        {
            connection.Enter(call);
        }
        _ = AnswerAsync(connection, call, answering);
    }

    private async Task AnswerAsync(ServerConnection connection, ServerCall call, Task<TReply> answering)
    {
        try
        {
            connection.Answer(call, name, await answering);
        }
        catch (Exception e)
        {
            connection.Fail(call, name, e);
        }
    }
}
