namespace Grpc.Core;

public class RpcException : Exception
{
    public RpcException(Status status)
        : this(status, Metadata.Empty)
    {
    }

    public RpcException(Status status, string message)
        : this(status, Metadata.Empty, message)
    {
    }

    public RpcException(Status status, Metadata trailers)
        : this(status, trailers, status.ToString())
    {
    }

    /// <summary>The message stays on this side; what the peer learns is the status and the trailers.</summary>
    public RpcException(Status status, Metadata trailers, string message)
        : base(message, status.DebugException)
    {
        ArgumentNullException.ThrowIfNull(trailers);
        Status = status;
        Trailers = trailers;
    }

    public Status Status { get; }

    public StatusCode StatusCode => Status.StatusCode;

    public Metadata Trailers { get; }
}
