namespace Grpc.Core;

public struct Status
{
    public static readonly Status DefaultSuccess = new(StatusCode.OK, "");

    public static readonly Status DefaultCancelled = new(StatusCode.Cancelled, "");

    public Status(StatusCode statusCode, string detail)
        : this(statusCode, detail, null)
    {
    }

    public Status(StatusCode statusCode, string detail, Exception? debugException)
    {
        StatusCode = statusCode;
        Detail = detail;
        DebugException = debugException;
    }

    public StatusCode StatusCode { get; }

    public string Detail { get; }

    /// <summary>What went wrong on this side of the wire; never sent to the peer.</summary>
    public Exception? DebugException { get; }

    public override readonly string ToString()
    {
        string debug = DebugException is { } e ? $", DebugException=\"{e.GetType()}: {e.Message}\"" : "";
        return $"Status(StatusCode=\"{StatusCode}\", Detail=\"{Detail}\"{debug})";
    }
}
