using Billing.LocalStack.Processes;

namespace Billing.Measuring.Experiments.Comparisons;

/// <summary>A collector of minimal cost: receives telemetry over OTLP (protobuf over HTTP) and discards it.</summary>
internal sealed class TelemetrySink : IAsyncDisposable
{
    private readonly WebApplication _app;

    private TelemetrySink(WebApplication app, string address)
    {
        _app = app;
        Address = address;
    }

    /// <summary>Address of the collector.</summary>
    public string Address { get; }

    public static async Task<TelemetrySink> StartAsync()
    {
        using var ports = new FreePorts();
        var address = $"http://127.0.0.1:{ports.Take()}";
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls(address);
        var app = builder.Build();
        app.MapPost("/v1/{signal}", DiscardAsync);
        await app.StartAsync();
        return new TelemetrySink(app, address);
    }

    public ValueTask DisposeAsync() => _app.DisposeAsync();

    private static async Task DiscardAsync(HttpContext http)
    {
        await http.Request.Body.CopyToAsync(Stream.Null);
        http.Response.ContentType = "application/x-protobuf";
    }
}
