namespace NBomber.Contracts;

public interface IResponse
{
    string StatusCode { get; }

    bool IsError { get; }

    long SizeBytes { get; }

    double LatencyMs { get; }

    string Message { get; }
}

/// <summary>Without the payload of the genuine record, which is an F# option.</summary>
public sealed class Response<T> : IResponse
{
    internal Response(bool isError, string? statusCode, long sizeBytes, string? message, double latencyMs)
    {
        IsError = isError;
        StatusCode = statusCode ?? "";
        SizeBytes = sizeBytes;
        Message = message ?? "";
        LatencyMs = latencyMs;
    }

    public string StatusCode { get; }

    public bool IsError { get; }

    public long SizeBytes { get; }

    public double LatencyMs { get; }

    public string Message { get; }
}
