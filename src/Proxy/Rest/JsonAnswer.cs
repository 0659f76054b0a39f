using System.Text.Json.Serialization.Metadata;
using Billing.Proxy.Failures;

namespace Billing.Proxy.Rest;

/// <summary>A JSON answer, written at once with its content length.</summary>
internal sealed class JsonAnswer<T>(T value, JsonTypeInfo<T> type) : IResult
{
    public Task ExecuteAsync(HttpContext httpContext)
    {
        JsonBody.Write(httpContext.Response, value, type, "application/json");
        return Task.CompletedTask;
    }
}
