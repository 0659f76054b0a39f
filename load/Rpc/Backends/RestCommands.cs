using System.Text.Json;

namespace Billing.Rpc.Backends;

/// <summary>Takes commands over REST.</summary>
internal static class RestCommands
{
    public static void MapRestCommands(this IEndpointRouteBuilder routes, CommandExecutor executor) =>
        routes.MapPost(WireJson.Path, (RequestDelegate)(http => ExecuteAsync(http, executor)));

    private static async Task ExecuteAsync(HttpContext http, CommandExecutor executor)
    {
        try
        {
            var command = await JsonSerializer.DeserializeAsync(http.Request.BodyReader, WireJson.Command, http.RequestAborted);
            if (command is null)
            {
                http.Response.StatusCode = StatusCodes.Status400BadRequest;
                return;
            }
            var body = JsonSerializer.SerializeToUtf8Bytes(await executor.ExecuteAsync(command), WireJson.Reply);
            http.Response.ContentType = "application/json";
            http.Response.ContentLength = body.Length;
            await http.Response.BodyWriter.WriteAsync(body, CancellationToken.None);
        }
        // The setters of the generated classes throw an ArgumentNullException for null.
        catch (Exception e) when (e is JsonException or ArgumentException)
        {
            http.Response.StatusCode = StatusCodes.Status400BadRequest;
        }
    }
}
