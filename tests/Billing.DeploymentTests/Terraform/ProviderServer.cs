using System.Net;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Billing.DeploymentTests.Terraform;

/// <summary>Serves the provider to Terraform, which uses it instead of downloading and starting one.</summary>
internal sealed class ProviderServer : IAsyncDisposable
{
    private readonly WebApplication _application;

    private ProviderServer(WebApplication application) => _application = application;

    /// <summary>The value for Terraform's TF_REATTACH_PROVIDERS.</summary>
    public string Reattach => JsonSerializer.Serialize(new Dictionary<string, object>
    {
        ["registry.terraform.io/hashicorp/aws"] = new
        {
            Protocol = "grpc",
            ProtocolVersion = 5,
            Pid = Environment.ProcessId,
            Test = true,
            Addr = new { Network = "tcp", String = new Uri(_application.Urls.Single()).Authority },
        },
    });

    public static async Task<ProviderServer> StartAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(
            kestrel => kestrel.Listen(IPAddress.Loopback, 0, listen => listen.Protocols = HttpProtocols.Http2));
        builder.Services.AddGrpc();
        builder.Services.AddSingleton(AwsSchema.Read());
        builder.Services.AddSingleton<SchemaProvider>();

        var application = builder.Build();
        application.MapGrpcService<SchemaProvider>();
        await application.StartAsync();
        return new ProviderServer(application);
    }

    public ValueTask DisposeAsync() => _application.DisposeAsync();
}
