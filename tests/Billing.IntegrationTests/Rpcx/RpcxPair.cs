using System.Collections.Concurrent;
using System.Net;
using Billing.Rpc.Rpcx;
using Billing.Rpc.Rpcx.Calling;
using Billing.Rpc.Rpcx.Serving;
using Billing.V1;
using Microsoft.Extensions.Logging;

namespace Billing.IntegrationTests.Rpcx;

/// <summary>A server and its clients over loopback sockets.</summary>
internal sealed class RpcxPair : IPayments, IAsyncDisposable
{
    private readonly List<RpcxClient> _clients = [];
    private readonly RpcxServerOptions _options;

    private RpcxPair(RpcxServerOptions options) => _options = options;

    public RpcxServer Server { get; private set; } = null!;

    public RecordingLog Log { get; } = new();

    public string Address => Server.EndPoint.ToString();

    /// <summary>The server's implementation; an echo unless a test sets another one.</summary>
    public Func<MakePaymentRequest, RpcxCallOptions, Task<MakePaymentResponse>> Pay { get; set; } = (request, _) => Task.FromResult(Answer(request));

    public static async Task<RpcxPair> StartAsync(
        Action<RpcxServerOptions>? set = null, RpcxDispatch dispatch = RpcxDispatch.Inline)
    {
        var options = new RpcxServerOptions { Listen = new IPEndPoint(IPAddress.Loopback, 0) };
        set?.Invoke(options);
        var pair = new RpcxPair(options);
        await pair.ListenAsync(dispatch);
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

    public async Task ListenAsync(RpcxDispatch dispatch = RpcxDispatch.Inline)
    {
        Server = new RpcxServer(_options, TimeProvider.System, new Logger<RpcxServer>(Log));
        Server.Publish<IPayments>(this, dispatch);
        await Server.StartAsync(CancellationToken.None);
        // The next server of this pair uses the same address.
        _options.Listen = Server.EndPoint;
    }

    public RpcxClient Client(Action<RpcxClientOptions>? set = null, TimeProvider? time = null)
    {
        var options = new RpcxClientOptions { Address = Address };
        set?.Invoke(options);
        var client = new RpcxClient(options, time ?? TimeProvider.System, new Logger<RpcxClient>(Log));
        _clients.Add(client);
        return client;
    }

    public Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, RpcxCallOptions options) => Pay(request, options);

    public Task<CheckBalanceResponse> CheckAsync(CheckBalanceRequest request, RpcxCallOptions options) =>
        Task.FromResult(new CheckBalanceResponse { Version = 7 });

    public async ValueTask DisposeAsync()
    {
        foreach (var client in _clients)
        {
            await client.DisposeAsync();
        }
        await Server.DisposeAsync();
    }
}

/// <summary>Records log messages, and lets tests wait for one.</summary>
internal sealed class RecordingLog : ILoggerFactory, ILogger
{
    private readonly ConcurrentQueue<string> _messages = new();
    private readonly ConcurrentDictionary<string, TaskCompletionSource<string>> _awaited = new(StringComparer.Ordinal);

    public IReadOnlyCollection<string> Messages => _messages;

    /// <summary>Returns the first message that contains a text, whether it is already logged or yet to come.</summary>
    public Task<string> WaitForMessageAsync(string text)
    {
        var awaited = _awaited.GetOrAdd(text, _ => new(TaskCreationOptions.RunContinuationsAsynchronously));
        if (_messages.FirstOrDefault(m => m.Contains(text, StringComparison.Ordinal)) is { } message)
        {
            awaited.TrySetResult(message);
        }
        return awaited.Task;
    }

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        var message = formatter(state, exception);
        _messages.Enqueue(message);
        foreach (var (text, awaited) in _awaited)
        {
            if (message.Contains(text, StringComparison.Ordinal))
            {
                awaited.TrySetResult(message);
            }
        }
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public void Dispose()
    {
    }
}
