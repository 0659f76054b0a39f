namespace NBomber.Contracts;

public interface IResponse
{
    string StatusCode { get; }

    bool IsError { get; }

    long SizeBytes { get; }

    double CustomLatencyMs { get; }

    string Message { get; }
}

/// <summary>Without the payload of the genuine record, which is an F# option.</summary>
public sealed class Response<T> : IResponse
{
    internal Response(string? statusCode, bool isError, long sizeBytes, double customLatencyMs, string? message)
    {
        StatusCode = statusCode ?? "";
        IsError = isError;
        SizeBytes = sizeBytes;
        CustomLatencyMs = customLatencyMs;
        Message = message ?? "";
    }

    public string StatusCode { get; }

    public bool IsError { get; }

    public long SizeBytes { get; }

    public double CustomLatencyMs { get; }

    public string Message { get; }
}
