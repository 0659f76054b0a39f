using Billing.Proxy.Failures;
using Billing.V1;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Simulation.Doors;

/// <summary>One MakePayments stream: its caller's requests, one after the other, and the answers, each of which belongs
/// to the request that has its transaction id as it was sent.</summary>
/// <param name="requests">The requests.</param>
/// <param name="pause">Waits before the next request is sent.</param>
internal sealed class PaymentsStream(IReadOnlyList<MakePaymentRequest> requests, Func<Task> pause)
    : IAsyncStreamReader<MakePaymentRequest>, IServerStreamWriter<MakePaymentsResponse>
{
    private readonly Dictionary<string, TaskCompletionSource<MakePaymentResponse>> _answers = requests.ToDictionary(
        request => request.TransactionId,
        _ => new TaskCompletionSource<MakePaymentResponse>(TaskCreationOptions.RunContinuationsAsynchronously),
        StringComparer.Ordinal);

    private int _sent = -1;

    public MakePaymentRequest Current { get; private set; } = new();

    public WriteOptions? WriteOptions { get; set; }

    /// <summary>The answer to a request, or its failure.</summary>
    public Task<MakePaymentResponse> Answer(MakePaymentRequest request) => _answers[request.TransactionId].Task;

    /// <summary>Ends what has no answer: the stream is over.</summary>
    public void End(Exception failure)
    {
        foreach (var answer in _answers.Values)
        {
            answer.TrySetException(failure);
        }
    }

    public async Task<bool> MoveNext(CancellationToken cancellationToken)
    {
        if (++_sent == requests.Count)
        {
            return false;
        }
        await pause();
        Current = MakePaymentRequest.Parser.ParseFrom(requests[_sent].ToByteArray());
        return true;
    }

    public Task WriteAsync(MakePaymentsResponse message, CancellationToken cancellationToken) => WriteAsync(message);

    public Task WriteAsync(MakePaymentsResponse message)
    {
        var answer = MakePaymentsResponse.Parser.ParseFrom(message.ToByteArray());
        var isNew = _answers.TryGetValue(answer.TransactionId, out var waiting) && (answer.Error is { } error
            ? waiting.TrySetException(new FailureException(
                new Failure((StatusCode)error.StatusCode, error.Reason, error.Message) { Field = error.Field }))
            : waiting.TrySetResult(answer.Payment!));
        if (!isNew)
        {
            // Told to the caller: what is thrown here, the proxy would take for a caller that is gone.
            End(new SimulationException(
                $"a stream had an answer to {answer.TransactionId}, which was not sent on it, or two"));
        }
        return Task.CompletedTask;
    }
}

/// <summary>The entries of the pages that a stream of a statement has written.</summary>
internal sealed class StatementWriter : IServerStreamWriter<ListStatementResponse>
{
    public List<StatementEntry> Entries { get; } = [];

    public WriteOptions? WriteOptions { get; set; }

    public Task WriteAsync(ListStatementResponse message, CancellationToken cancellationToken) => WriteAsync(message);

    public Task WriteAsync(ListStatementResponse message)
    {
        Entries.AddRange(ListStatementResponse.Parser.ParseFrom(message.ToByteArray()).Entries);
        return Task.CompletedTask;
    }
}
