using NBomber.Contracts;

namespace NBomber.CSharp;

public static class Response
{
    public static Response<object> Ok() => Ok<object>();

    public static Response<object> Fail() => Fail<object>();

    /// <summary>Drops <paramref name="customLatencyMs"/>, as the genuine overload without a type does.</summary>
    public static Response<object> Ok(
        string statusCode = "", long sizeBytes = 0, string message = "", double customLatencyMs = 0.0) =>
        new(statusCode, isError: false, sizeBytes, 0, message);

    public static Response<T> Ok<T>(
        string statusCode = "", long sizeBytes = 0, string message = "", double customLatencyMs = 0.0) =>
        new(statusCode, isError: false, sizeBytes, customLatencyMs, message);

    public static Response<object> Fail(
        string statusCode = "", string message = "", long sizeBytes = 0, double customLatencyMs = 0.0) =>
        Fail<object>(statusCode, message, sizeBytes, customLatencyMs);

    public static Response<T> Fail<T>(
        string statusCode = "", string message = "", long sizeBytes = 0, double customLatencyMs = 0.0) =>
        new(statusCode, isError: true, sizeBytes, customLatencyMs, message);
}
