using System.Buffers;
using Billing.Rpc.Rpcx.Wire;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>A call that is waiting for its reply.</summary>
internal interface IPendingCall
{
    /// <summary>Ends the call with its reply.</summary>
    void Complete(in ReadOnlySequence<byte> payload);

    /// <summary>Ends the call with an exception.</summary>
    void Fail(Exception exception);
}

/// <summary>A call that is waiting for its reply. The caller's code continues on another thread than the loop that reads
/// replies, so that a caller that blocks does not delay others.</summary>
/// <param name="parser">Parses the reply.</param>
internal sealed class PendingCall<TReply>(MessageParser<TReply> parser)
    : TaskCompletionSource<TReply>(TaskCreationOptions.RunContinuationsAsynchronously), IPendingCall
    where TReply : class, IMessage<TReply>
{
    private ClientConnection? _connection;
    private ulong _id;
    private CancellationTokenRegistration _registration;

    /// <summary>Registers for the caller's cancellation. To be called before the call is added to those in flight, so that the
    /// registration exists when the call ends.</summary>
    public void Watch(CancellationToken cancellationToken)
    {
        if (cancellationToken.CanBeCanceled)
        {
            _registration = cancellationToken.UnsafeRegister(
                static (self, token) => ((PendingCall<TReply>)self!).Cancel(token), this);
        }
    }

    /// <summary>Records that the call was sent, with its connection and id.</summary>
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
