using System.Net;
using Billing.Rpc.Rpcx;
using Billing.V1;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;

namespace Billing.IntegrationTests.Rpcx;

/// <summary>A server and its clients over loopback sockets.</summary>
internal sealed class RpcxPair : IPayments, IAsyncDisposable
{
    private readonly List<RpcxClient> _clients = [];
    private readonly FakeLoggerProvider _log = new();
    private IPEndPoint _listen = new(IPAddress.Loopback, 0);

    public RpcxServer Server { get; private set; } = null!;

    public IEnumerable<string> Log => _log.Collector.GetSnapshot().Select(record => record.Message);

    /// <summary>The server's implementation; an echo unless a test sets another one.</summary>
    public Func<MakePaymentRequest, Task<MakePaymentResponse>> Pay { get; set; } = request =>
        Task.FromResult(Answer(request));

    public static async Task<RpcxPair> StartAsync(RpcxDispatch dispatch = RpcxDispatch.Inline, int inFlightMax = 10_000)
    {
        var pair = new RpcxPair();
        await pair.ListenAsync(dispatch, inFlightMax);
        return pair;
    }

    public static MakePaymentRequest Request(long units = 1, string account = "acct-42") => new()
    {
        TransactionId = "01234567-89ab-cdef-0123-456789abcdef",
        AccountId = account,
        PaymentType = PaymentType.Visa,
        Amount = new Money { CurrencyCode = "USD", Units = units },
    };

    public static MakePaymentResponse Answer(MakePaymentRequest request) => new()
    {
        TransactionId = request.TransactionId,
        Outcome = PaymentOutcome.Accepted,
        Version = request.Amount.Units,
    };

    /// <summary>Starts the first server, or a further one at the same address.</summary>
    public async Task ListenAsync(RpcxDispatch dispatch = RpcxDispatch.Inline, int inFlightMax = 10_000)
    {
        Server = new RpcxServer(_listen, TimeProvider.System, Logger<RpcxServer>()) { InFlightMax = inFlightMax };
        Server.Publish<IPayments>(this, dispatch);
        await Server.StartAsync(CancellationToken.None);
        _listen = Server.EndPoint;
    }

    public RpcxClient Client(int connections = 1)
    {
        var client = new RpcxClient(
            new RpcxClientOptions(
                _listen.ToString())
            { Connections = connections, Backoff = TimeSpan.FromMilliseconds(1) },
            TimeProvider.System, Logger<RpcxClient>());
        _clients.Add(client);
        return client;
    }

    public Task<MakePaymentResponse> PayAsync(MakePaymentRequest request) => Pay(request);

    public Task<CheckBalanceResponse> CheckAsync(CheckBalanceRequest request) =>
        Task.FromResult(new CheckBalanceResponse { Version = 7 });

    public async ValueTask DisposeAsync()
    {
        foreach (var client in _clients)
        {
            await client.DisposeAsync();
        }
        await Server.DisposeAsync();
        _log.Dispose();
    }

    private Logger<T> Logger<T>() => new(new LoggerFactory([_log]));
}
