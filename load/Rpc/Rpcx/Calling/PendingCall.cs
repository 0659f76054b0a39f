using System.Buffers;
using Billing.Rpc.Rpcx.Wire;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>A call that is waiting for its reply, whatever the type of the reply.</summary>
internal interface IPendingCall
{
    RemoteMethod Method { get; }

    IMessage Request { get; }

    /// <summary>The deadline, as a timestamp of the <see cref="CallClock"/>.</summary>
    long DueAt { get; }

    /// <summary>The caller's token.</summary>
    CancellationToken CancellationToken { get; }

    /// <summary>Sets the deadline and registers for the caller's cancellation. To be called before the call is sent, so that the
    /// registration exists when the call ends.</summary>
    void Begin(long dueAt, CancellationToken cancellationToken);

    /// <summary>Records that the call was sent, with its connection and id.</summary>
    void Sent(ClientConnection connection, ulong id);

    /// <summary>Ends the call with its reply.</summary>
    void Complete(in ReadOnlySequence<byte> payload);

    /// <summary>Ends the call with an exception.</summary>
    void Fail(Exception exception);

    /// <summary>Ends the call as cancelled.</summary>
    bool TrySetCanceled(CancellationToken cancellationToken);
}

/// <summary>A call that is waiting for its reply. The caller's code continues on another thread than the loop that reads
/// replies, so that a caller that blocks does not delay others.</summary>
internal sealed class PendingCall<TReply>(RemoteMethod method, MessageParser<TReply> parser, IMessage request)
    : TaskCompletionSource<TReply>(TaskCreationOptions.RunContinuationsAsynchronously), IPendingCall
    where TReply : class, IMessage<TReply>
{
    private ClientConnection? _connection;
    private ulong _id;
    private CancellationTokenRegistration _registration;

    public RemoteMethod Method => method;

    public IMessage Request => request;

    public long DueAt { get; private set; }

    public CancellationToken CancellationToken { get; private set; }

    public void Begin(long dueAt, CancellationToken cancellationToken)
    {
        DueAt = dueAt;
        CancellationToken = cancellationToken;
        _registration = cancellationToken.UnsafeRegister(
            static (self, token) => ((PendingCall<TReply>)self!).Cancel(token), this);
    }

    public void Sent(ClientConnection connection, ulong id)
    {
        _id = id;
        Volatile.Write(ref _connection, connection);
        Interlocked.MemoryBarrier();
        // Cancelled before the connection was recorded: Cancel could not notify the server.
        if (Task.IsCanceled)
        {
            connection.Cancel(id);
        }
    }

    public void Complete(in ReadOnlySequence<byte> payload)
    {
        _registration.Unregister();
        try
        {
            TrySetResult(FrameReader.Parse(parser, payload));
        }
        catch (InvalidProtocolBufferException e)
        {
            Fail(new RpcxException(
                StatusCode.Internal, RpcxReasons.ReplyUnreadable, $"The reply is not a {typeof(TReply).Name}.", innerException: e));
        }
    }

    public void Fail(Exception exception)
    {
        _registration.Unregister();
        TrySetException(exception);
    }

    private void Cancel(CancellationToken cancellationToken)
    {
        if (TrySetCanceled(cancellationToken))
        {
            Interlocked.MemoryBarrier();
            Volatile.Read(ref _connection)?.Cancel(_id);
        }
    }
}
