using System.Diagnostics;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using OpenTelemetry;

namespace Billing.Hosting.Telemetry;

/// <summary>Names the spans of libraries that give all their spans the same name.</summary>
internal sealed class SpanNames : BaseProcessor<Activity>
{
    private const string GrpcClientSpan = "Grpc.Net.Client.GrpcOut";

    /// <summary>Names the span of a gRPC call after its method.</summary>
    public override void OnEnd(Activity data)
    {
        if (data.OperationName == GrpcClientSpan && data.GetTagItem("grpc.method") is string { Length: > 1 } method)
        {
            data.DisplayName = method[1..];
            data.SetTag("rpc.system.name", "grpc");
            data.SetTag("rpc.method", method[1..]);
        }
    }

    /// <summary>Middleware that names the span of a request after its route, unless it already
    /// has a specific name.</summary>
    public static async Task NameRequestAsync(HttpContext http, RequestDelegate next)
    {
        var span = Activity.Current;
        try
        {
            await next(http);
        }
        finally
        {
            if (span is { IsAllDataRequested: true } && span.DisplayName == span.OperationName)
            {
                var route = (http.GetEndpoint() as RouteEndpoint)?.RoutePattern.RawText;
                span.DisplayName = route is null ? http.Request.Method : $"{http.Request.Method} {route}";
                span.SetTag("http.request.method", http.Request.Method);
                span.SetTag("http.route", route);
                span.SetTag("http.response.status_code", http.Response.StatusCode);
            }
        }
    }
}
