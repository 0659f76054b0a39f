using NBomber.Contracts;

namespace NBomber.CSharp;

public static class Response
{
    public static Response<object> Ok() => Ok(statusCode: "");

    public static Response<object> Fail() => Fail(statusCode: "");

    public static Response<object> Ok(
        string statusCode = "", long sizeBytes = 0, string message = "", double latencyMs = 0) =>
        new(isError: false, statusCode, sizeBytes, message, latencyMs);

    public static Response<object> Fail(
        string statusCode = "", string message = "", long sizeBytes = 0, double latencyMs = 0) =>
        new(isError: true, statusCode, sizeBytes, message, latencyMs);
}
