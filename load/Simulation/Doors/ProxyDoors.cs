using System.Text;
using Billing.Proxy;
using Billing.Proxy.Calls;
using Billing.Proxy.Limits;
using Billing.Proxy.Rest;
using Billing.Proxy.Security;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Simulation.Doors;

/// <summary>What callers reach of one proxy: its REST routes and its gRPC services. Nothing but servers,
/// connections and frames is missing.</summary>
internal sealed class ProxyDoors : IServiceProvider
{
    private static readonly Caller Stranger = new("client");

    private readonly RequestHandler _handler;
    private readonly IOptions<ProxyOptions> _options;
    private readonly TimeProvider _time;
    private readonly Dictionary<Type, object> _routes = [];
    private readonly BodyRequests _bodies;

    public ProxyDoors(RequestHandler handler, Admission admission, IOptions<ProxyOptions> options, TimeProvider time)
    {
        (_handler, _options, _time) = (handler, options, time);
        _bodies = new BodyRequests(handler, options, time);
        Errors = new CallErrors(options, Failures.Instance);
        Billing = new GrpcService(handler, admission, options, time);
        Admin = new GrpcAdminService(handler, time);
    }

    /// <summary>What turns failures into answers.</summary>
    public CallErrors Errors { get; }

    /// <summary>The public gRPC service.</summary>
    public GrpcService Billing { get; }

    /// <summary>The operators' gRPC service.</summary>
    public GrpcAdminService Admin { get; }

    /// <summary>Answers a REST request.</summary>
    public async Task<RestAnswer> AnswerAsync(RestAsk ask)
    {
        var http = new DefaultHttpContext { RequestServices = this };
        http.Features.Set(Stranger);
        var (request, query) = (http.Request, ask.Url.IndexOf('?', StringComparison.Ordinal));
        request.Method = ask.Method;
        request.Scheme = "http";
        request.Host = new HostString("proxy");
        request.Path = PathString.FromUriComponent(query < 0 ? ask.Url : ask.Url[..query]);
        request.QueryString = query < 0 ? default : new QueryString(ask.Url[query..]);
        if (ask.TimeoutMs > 0)
        {
            request.Headers[RestRequest.TimeoutHeader] = ask.TimeoutMs.ToString(
                System.Globalization.CultureInfo.InvariantCulture);
        }
        if (ask.IsAsync)
        {
            request.Headers[RestRequest.PreferHeader] = "respond-async";
        }
        if (ask.Body is { } body)
        {
            var bytes = Encoding.UTF8.GetBytes(body);
            request.ContentType = "application/json";
            request.ContentLength = bytes.Length;
            request.Body = new MemoryStream(bytes);
        }
        var written = new MemoryStream();
        http.Features.Set<IHttpResponseBodyFeature>(new StreamResponseBodyFeature(written));
        await RestFront.ServeAsync(this, http);
        return new RestAnswer(
            http.Response.StatusCode, Encoding.UTF8.GetString(written.GetBuffer(), 0, (int)written.Length),
            http.Response.Headers.Location.ToString());
    }

    /// <summary>The proxy's instance of a class of routes.</summary>
    public object Route(Type type)
    {
        if (!_routes.TryGetValue(type, out var route))
        {
            _routes[type] = route = ActivatorUtilities.CreateInstance(this, type);
        }
        return route;
    }

    public object? GetService(Type serviceType) =>
        serviceType == typeof(RequestHandler) ? _handler
        : serviceType == typeof(BodyRequests) ? _bodies
        : serviceType == typeof(IOptions<ProxyOptions>) ? _options
        : serviceType == typeof(TimeProvider) ? _time
        : serviceType == typeof(CallErrors) ? Errors
        : RestFront.Services.GetService(serviceType);

    // What the proxy logs as an error of its own is one of the run.
    private sealed class Failures : ILogger<CallErrors>
    {
        public static readonly Failures Instance = new();

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception,
            Func<TState, Exception?, string> formatter) =>
            throw new SimulationException($"{formatter(state, exception)}: {exception}");
    }
}

/// <summary>A REST request, as a stranger sends it.</summary>
/// <param name="Method">The method.</param>
/// <param name="Url">Path and query, escaped.</param>
/// <param name="Body">The JSON; null for none.</param>
/// <param name="TimeoutMs">How long its caller waits, in milliseconds; 0 if it does not say.</param>
/// <param name="IsAsync">Whether its caller prefers not to wait for the answer.</param>
internal sealed record RestAsk(string Method, string Url, string? Body = null, int TimeoutMs = 0, bool IsAsync = false);

/// <summary>The answer to a REST request.</summary>
/// <param name="Status">The HTTP status.</param>
/// <param name="Body">The JSON.</param>
/// <param name="Location">The header Location; empty if there is none.</param>
internal sealed record RestAnswer(int Status, string Body, string Location);
