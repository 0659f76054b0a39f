using System.Buffers;
using Billing.Messaging.Rpcx.Wire;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Messaging.Rpcx.Calling;

/// <summary>A call that waits for its reply.</summary>
internal interface IPendingCall
{
    /// <summary>The reply has come.</summary>
    void Complete(in ReadOnlySequence<byte> payload);

    /// <summary>None will come.</summary>
    void Fail(Exception exception);
}

/// <summary>A call that waits for its reply. The caller's code goes on elsewhere than on the loop that reads replies: a caller
/// that blocks holds up no other.</summary>
/// <param name="parser">Reads the reply.</param>
internal sealed class PendingCall<TReply>(MessageParser<TReply> parser)
    : TaskCompletionSource<TReply>(TaskCreationOptions.RunContinuationsAsynchronously), IPendingCall
    where TReply : class, IMessage<TReply>
{
    private ClientConnection? _connection;
    private ulong _id;
    private CancellationTokenRegistration _registration;

    /// <summary>Watches the caller's token. Before the call is entered anywhere, so that whoever ends the call finds the
    /// registration.</summary>
    public void Watch(CancellationToken cancellationToken)
    {
        if (cancellationToken.CanBeCanceled)
        {
            _registration = cancellationToken.UnsafeRegister(
                static (self, token) => ((PendingCall<TReply>)self!).Cancel(token), this);
        }
    }

    /// <summary>The call is sent under this id.</summary>
    public void Sent(ClientConnection connection, ulong id)
    {
        _id = id;
        Volatile.Write(ref _connection, connection);
        Interlocked.MemoryBarrier();
        // Cancelled on the way here: the cancellation saw no connection to tell.
        if (Task.IsCanceled)
        {
            connection.Cancel(id);
        }
    }

    /// <inheritdoc/>
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

    /// <inheritdoc/>
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
