using System.Collections.Concurrent;
using System.Security.Cryptography.X509Certificates;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Proxy.Failures;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Client;

/// <summary>A proxy on its own port that answers with the given failures first, and then accepts all payments.
/// On a stream, each failure comes after an answer.</summary>
internal sealed class ScriptedProxy : BillingService.BillingServiceBase, IAsyncDisposable
{
    private readonly ConcurrentQueue<MakePaymentRequest> _requests = new();
    private readonly ConcurrentQueue<RpcException> _failures = new();
    private readonly ConcurrentQueue<(string Name, string? Value)> _headers = new();
    private WebApplication _app = null!;

    /// <summary>The address that it listens on.</summary>
    public string Address => _app.Urls.First();

    /// <summary>The requests received, in order.</summary>
    public IReadOnlyCollection<MakePaymentRequest> Requests => _requests;

    /// <summary>Returns the values of a header of all calls, in order; only for <c>authorization</c>,
    /// <c>traceparent</c> and <c>tenant</c>.</summary>
    public IEnumerable<string?> HeadersOf(string name) =>
        _headers.Where(header => header.Name == name).Select(header => header.Value);

    /// <summary>Called with each request before it is answered.</summary>
    public Action<MakePaymentRequest> Asked { get; set; } = _ => { };

    /// <summary>Whether a stream fails before its first answer.</summary>
    public bool FailsStreamsAtOnce { get; set; }

    public static Task<ScriptedProxy> StartAsync(params RpcException[] failures) =>
        StartAsync(certificate: null, failures);

    /// <summary>Starts a proxy over https, for clients with a certificate of the same authority;
    /// over http if there is none.</summary>
    public static Task<ScriptedProxy> StartAsync(SelfMadeCertificates? certificate, params RpcException[] failures) =>
        StartAsync("127.0.0.1:0", certificate, failures);

    /// <summary>Starts a proxy at an address and port of this machine.</summary>
    public static async Task<ScriptedProxy> StartAsync(
        string endPoint, SelfMadeCertificates? certificate = null, params RpcException[] failures)
    {
        var proxy = new ScriptedProxy();
        Array.ForEach(failures, proxy._failures.Enqueue);
        var builder = Service.CreateBuilder([]);
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls($"{(certificate is null ? "http" : "https")}://{endPoint}");
        builder.WebHost.UseKestrelHttpsConfiguration();
        builder.WebHost.ConfigureKestrel(kestrel =>
        {
            kestrel.ConfigureEndpointDefaults(e => e.Protocols = HttpProtocols.Http2);
            if (certificate is not null)
            {
                kestrel.ConfigureHttpsDefaults(https => Secure(https, certificate));
            }
        });
        builder.Services.AddGrpc();
        builder.Services.AddSingleton(proxy);
        proxy._app = builder.Build();
        proxy._app.MapGrpcService<ScriptedProxy>();
        await proxy._app.StartAsync();
        return proxy;
    }

    /// <summary>Returns a failure as the proxies make it; without a reason, one that is not theirs.</summary>
    public static RpcException Failure(
        StatusCode status, string reason = "", string? pushback = null, string field = "")
    {
        const string Message = "scripted failure";
        var failure = reason.Length == 0
            ? new RpcException(new Status(status, Message), new Metadata())
            : new Failure(status, reason, Message) { Field = field }.ToRpcException();
        if (pushback is not null)
        {
            failure.Trailers.Add(Trailers.RetryPushback, pushback);
        }
        return failure;
    }

    /// <inheritdoc/>
    public override Task<MakePaymentResponse> MakePayment(MakePaymentRequest request, ServerCallContext context)
    {
        _requests.Enqueue(request);
        RecordHeaders(context);
        Asked(request);
        return _failures.TryDequeue(out var failure)
            ? throw failure
            : Task.FromResult(Answer(request));
    }

    /// <inheritdoc/>
    public override async Task MakePayments(
        IAsyncStreamReader<MakePaymentRequest> requestStream,
        IServerStreamWriter<MakePaymentsResponse> responseStream, ServerCallContext context)
    {
        RecordHeaders(context);
        await foreach (var request in requestStream.ReadAllAsync(context.CancellationToken))
        {
            if (FailsStreamsAtOnce && _failures.TryDequeue(out var atOnce))
            {
                throw atOnce;
            }
            await responseStream.WriteAsync(
                new MakePaymentsResponse { TransactionId = request.TransactionId, Payment = Answer(request) });
            if (_failures.TryDequeue(out var failure))
            {
                throw failure;
            }
        }
    }

    /// <inheritdoc/>
    public override Task StreamStatement(
        ListStatementRequest request,
        IServerStreamWriter<ListStatementResponse> responseStream, ServerCallContext context)
    {
        RecordHeaders(context);
        return responseStream.WriteAsync(new ListStatementResponse
        {
            Entries = { new StatementEntry { Version = 1, TransactionId = Samples.TransactionId } },
        });
    }

    public ValueTask DisposeAsync() => _app.DisposeAsync();

    private static void Secure(HttpsConnectionAdapterOptions https, SelfMadeCertificates certificates)
    {
        https.ServerCertificate = certificates.Server;
        https.ClientCertificateMode = ClientCertificateMode.RequireCertificate;
        https.ClientCertificateValidation = (client, _, _) =>
        {
            using var chain = new X509Chain();
            chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
            chain.ChainPolicy.CustomTrustStore.Add(certificates.Authority);
            chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
            return chain.Build(client);
        };
    }

    private static MakePaymentResponse Answer(MakePaymentRequest request) =>
        new()
        {
            TransactionId = request.TransactionId,
            Outcome = PaymentOutcome.Accepted,
            Balance = request.Amount,
            Version = 1,
        };

    private void RecordHeaders(ServerCallContext context)
    {
        foreach (var name in new[] { "authorization", "traceparent", "tenant" })
        {
            _headers.Enqueue((name, context.RequestHeaders.GetValue(name)));
        }
    }
}
