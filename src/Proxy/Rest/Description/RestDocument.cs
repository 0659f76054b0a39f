using System.IO.Pipelines;
using System.Text;
using Microsoft.AspNetCore.OpenApi;
using Microsoft.Extensions.Options;
using Microsoft.OpenApi;

namespace Billing.Proxy.Rest.Description;

/// <summary>Serves the OpenAPI document. Anyone may ask for it, and it takes milliseconds to build: so it is built
/// once. It is sent in pieces, each when the caller has taken the one before: the server would keep a copy of it for
/// each caller that does not read.</summary>
internal sealed class RestDocument
{
    /// <summary>The name of the document.</summary>
    public const string Name = "v1";

    // The server lets a handler write so much before it waits for the caller.
    private const int PieceBytes = 4096;

    private readonly Lazy<Task<byte[]>> _document;

    public RestDocument(IServiceProvider services) => _document = new(() => BuildAsync(services));

    /// <summary>Maps it.</summary>
    public IEndpointConventionBuilder Map(IEndpointRouteBuilder routes) =>
        routes.MapGet($"/openapi/{Name}.json", AnswerAsync);

    private async Task AnswerAsync(HttpContext http)
    {
        ReadOnlyMemory<byte> left = await _document.Value;
        http.Response.ContentType = "application/json;charset=utf-8";
        http.Response.ContentLength = left.Length;
        for (FlushResult sent = default; left.Length > 0 && !sent.IsCompleted;)
        {
            var piece = left[..Math.Min(PieceBytes, left.Length)];
            sent = await http.Response.BodyWriter.WriteAsync(piece, http.RequestAborted);
            left = left[piece.Length..];
        }
    }

    private static async Task<byte[]> BuildAsync(IServiceProvider services)
    {
        await using var scope = services.CreateAsyncScope();
        var document = await scope.ServiceProvider.GetRequiredKeyedService<IOpenApiDocumentProvider>(Name)
            .GetOpenApiDocumentAsync();
        var version = services.GetRequiredService<IOptionsMonitor<OpenApiOptions>>().Get(Name).OpenApiVersion;
        return Encoding.UTF8.GetBytes(await document.SerializeAsJsonAsync(version));
    }
}
