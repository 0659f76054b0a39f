using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Messaging.Rpcx;

/// <summary>A call got no reply. An implementation throws it to tell its caller why; any other exception of an
/// implementation reaches the caller as INTERNAL, without its message.</summary>
public sealed class RpcxException : Exception
{
    /// <summary>Creates the exception.</summary>
    /// <param name="statusCode">What happened, as gRPC names it; not OK.</param>
    /// <param name="reason">A constant for programs; RPCX's own are in <see cref="RpcxReasons"/>.</param>
    /// <param name="message">What happened, for a person.</param>
    /// <param name="field">The field of the request at fault, if one is.</param>
    /// <param name="innerException">What caused it; it does not travel.</param>
    public RpcxException(
        StatusCode statusCode, string reason, string message, string field = "", Exception? innerException = null)
        : base(message, innerException)
    {
        ArgumentOutOfRangeException.ThrowIfEqual((int)statusCode, (int)StatusCode.OK);
        StatusCode = statusCode;
        Reason = reason;
        Field = field;
    }

    /// <summary>Creates an INTERNAL error with a message.</summary>
    public RpcxException(string message)
        : this(StatusCode.Internal, RpcxReasons.HandlerFailed, message)
    {
    }

    /// <summary>Creates an INTERNAL error with a message and what caused it.</summary>
    public RpcxException(string message, Exception innerException)
        : this(StatusCode.Internal, RpcxReasons.HandlerFailed, message, innerException: innerException)
    {
    }

    /// <summary>Creates an INTERNAL error.</summary>
    public RpcxException()
        : this("The call failed.")
    {
    }

    /// <summary>What happened, as gRPC names it.</summary>
    public StatusCode StatusCode { get; }

    /// <summary>The constant for programs; empty where the server gave none.</summary>
    public string Reason { get; }

    /// <summary>The field of the request at fault; empty where none is.</summary>
    public string Field { get; }

    internal static RpcxException From(Error error) => new(
        error.StatusCode is > 0 and <= (int)StatusCode.Unauthenticated ? (StatusCode)error.StatusCode : StatusCode.Unknown,
        error.Reason, error.Message, error.Field);

    internal Error ToError() =>
        new() { StatusCode = (int)StatusCode, Reason = Reason, Message = Message, Field = Field };
}
