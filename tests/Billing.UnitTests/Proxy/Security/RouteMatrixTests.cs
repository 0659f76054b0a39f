using System.Net;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Proxy.Failures;
using Billing.UnitTests.Testing;
using Grpc.Core;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Routing.Patterns;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>Every route, with every method and content type, at every address, with and without a token.</summary>
public sealed class RouteMatrixTests : IAsyncLifetime
{
    private static readonly string[] Methods = ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"];

    private static readonly string[] Types =
    [
        "", "application/json", "application/grpc", "application/grpc+proto", "application/grpc-web", "text/plain",
        "application/grpc; charset=\"", "a",
    ];

    // Half of them go with each request.
    private static readonly (string Name, string Value)[] OddHeaders =
    [
        ("te", "trailers"), ("grpc-timeout", "1n"), ("grpc-encoding", "gzip"), ("grpc-accept-encoding", "gzip,x"),
        ("accept", "application/grpc"), ("accept", "text/html;q=x"), ("origin", "https://elsewhere.example"),
        ("access-control-request-method", "POST"), ("expect", "100-continue"), ("x-http-method-override", "DELETE"),
        ("prefer", "respond-async=\"; wait"), ("billing-timeout-ms", "-1"), ("traceparent", "00-0-0-zz"),
        ("cookie", "a=b; =; c"), ("range", "bytes=5-1"), ("if-none-match", "*"), ("accept-language", "*-"),
    ];

    private readonly FakeLoggerProvider _logs = new();
    private SecureProxy _proxy = null!;

    public async ValueTask InitializeAsync()
    {
        _proxy = await SecureProxy.StartAsync(logs: _logs);
        _proxy.Backend.Answer = command => Task.FromResult(
            Replies.Error(command.CorrelationId, StatusCode.NotFound, ErrorReasons.PaymentNotFound, "Not here."));
    }

    public ValueTask DisposeAsync() => _proxy.DisposeAsync();

    [Theory]
    [InlineData("none")]
    [InlineData("garbage")]
    [InlineData("valid")]
    public async Task No_route_fails_or_lets_a_stranger_in_whatever_the_request_says_of_itself(string token)
    {
        const int Seed = 62;
        var random = new Random(Seed);
        using var http = _proxy.Http(token switch
        {
            "none" => null,
            "garbage" => "e30.e30.e30",
            _ => _proxy.Token(string.Join(' ', Scopes.All), "*/*"),
        });
        var wrong = new List<string>();
        var tried = 0;
        foreach (var route in _proxy.Host.Endpoints.Where(route => route.RoutePattern.RawText is not null))
        {
            foreach (var (method, type) in Methods.SelectMany(method => Types.Select(type => (method, type))))
            {
                using var request = Request(random, route, method, type);
                tried++;
                if (await ProblemAsync(http, route, request, isStranger: token != "valid") is { } problem)
                {
                    wrong.Add($"{request.Method} {request.RequestUri} HTTP/{request.Version} '{type}': {problem}");
                }
            }
        }

        Assert.True(wrong.Count == 0, string.Join(Environment.NewLine, wrong.Take(20)));
        Assert.True(tried > 1_000, $"{tried} were tried.");
        Assert.DoesNotContain(_logs.Collector.GetSnapshot(), line => line.Level >= LogLevel.Error);
    }

    private HttpRequestMessage Request(Random random, RouteEndpoint route, string method, string type)
    {
        var address = ((Uri[])[_proxy.Grpc, _proxy.Rest, _proxy.Admin])[random.Next(3)];
        var request = new HttpRequestMessage(new HttpMethod(method), new Uri(address, Path(route)))
        {
            Version = address == _proxy.Grpc || random.Next(2) == 0 ? HttpVersion.Version20 : HttpVersion.Version11,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = method is "GET" or "HEAD" or "OPTIONS" && type.Length == 0 ? null
                : new ByteArrayContent(random.Next(3) switch { 0 => [], 1 => "{}"u8.ToArray(), _ => [0, 0, 0, 0, 9] }),
        };
        if (type.Length > 0)
        {
            request.Content!.Headers.TryAddWithoutValidation("content-type", type);
        }
        foreach (var (name, value) in OddHeaders.Where(_ => random.Next(2) == 0))
        {
            request.Headers.TryAddWithoutValidation(name, value);
        }
        return request;
    }

    private static string Path(RouteEndpoint route) => "/" + string.Join('/', route.RoutePattern.PathSegments
        .Select(segment => string.Concat(segment.Parts.Select(part => part switch
        {
            RoutePatternLiteralPart literal => literal.Content,
            RoutePatternParameterPart => Samples.TransactionId,
            _ => ".",
        }))));

    private static async Task<string?> ProblemAsync(
        HttpClient http, RouteEndpoint route, HttpRequestMessage request, bool isStranger)
    {
        using var answer = await http.SendAsync(
            request, HttpCompletionOption.ResponseHeadersRead, TestContext.Current.CancellationToken);
        var isGrpc = route.Metadata.GetMetadata<GrpcEndpoint>() is not null;
        if (answer.StatusCode is HttpStatusCode.InternalServerError)
        {
            return "it failed";
        }
        if (!isGrpc && !IsFile(answer) && answer.Headers.CacheControl?.NoStore != true)
        {
            return "it may be stored";
        }
        if (!isGrpc && answer.Headers.NonValidated["x-content-type-options"].ToString() != "nosniff")
        {
            return "its type may be guessed";
        }
        if (isGrpc
            || route.Metadata.GetMetadata<HttpMethodMetadata>()?.HttpMethods.Contains(request.Method.Method) != true)
        {
            return null;
        }
        if (answer.Content.Headers.ContentType?.MediaType?.Contains("grpc", StringComparison.Ordinal) == true)
        {
            return "it is answered as a call of gRPC";
        }
        if (route.Metadata.GetMetadata<IAllowAnonymous>() is not null)
        {
            return null;
        }
        return isStranger && answer.StatusCode
                is not (HttpStatusCode.Unauthorized or HttpStatusCode.NotFound or HttpStatusCode.TooManyRequests)
            ? "a stranger is not refused"
            : null;
    }

    // Of the live page, which have no data.
    private static bool IsFile(HttpResponseMessage answer) => answer.Headers.ETag is not null;
}
