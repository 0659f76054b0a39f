using System.Collections.Concurrent;
using System.Net;
using Billing.ContractTests.Protos;
using Grpc.Core;
using Grpc.Net.Client;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Billing.ContractTests.GrpcApi;

/// <summary>The official server on a free loopback port, and the official client's channel to it.</summary>
public sealed class EchoServer : IAsyncLifetime
{
    public const int MaxMessageBytes = 64 * 1024;

    private readonly ConcurrentDictionary<string, HangSignals> _hangs = [];
    private WebApplication? _app;
    private GrpcChannel? _channel;

    public Uri Address => new(_app!.Urls.Single());

    public GrpcChannel Channel => _channel!;

    public Echo.EchoClient Client => new(Channel);

    public RecordingServerInterceptor Interceptor { get; } = new();

    public static DateTime In(TimeSpan time) => (TimeProvider.System.GetUtcNow() + time).UtcDateTime;

    public async ValueTask InitializeAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(kestrel =>
            kestrel.Listen(IPAddress.Loopback, 0, endpoint => endpoint.Protocols = HttpProtocols.Http2));
        builder.Services.AddSingleton(this);
        builder.Services.AddSingleton(Interceptor);
        builder.Services.AddGrpc(options =>
        {
            options.MaxReceiveMessageSize = MaxMessageBytes;
            options.Interceptors.Add<RecordingServerInterceptor>();
        });
        _app = builder.Build();
        _app.MapGrpcService<EchoService>();
        _app.MapGrpcService(BoundByHand.Definition);
        await _app.StartAsync();
        _channel = GrpcChannel.ForAddress(Address);
    }

    /// <summary>Each text has its own signals, so that a call that ends late does not affect another test.</summary>
    public HangSignals HangOf(string text) => _hangs.GetOrAdd(text, _ => new HangSignals());

    public async ValueTask DisposeAsync()
    {
        _channel?.Dispose();
        if (_app is not null)
        {
            await _app.DisposeAsync();
        }
    }

    public sealed class HangSignals
    {
        public TaskCompletionSource<ServerCallContext> Started { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Cancelled { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
