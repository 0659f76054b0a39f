using System.Collections.Concurrent;
using Billing.Client;
using Billing.Contracts;
using Billing.Driver.Channels;
using Billing.Driver.Lives;
using Billing.V1;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Chaos;

/// <summary>Calls through the SDK until there is an answer: a call that fails after the SDK's own retries is repeated
/// with the same transaction id. Some are sent twice at the same time, through two proxies.</summary>
/// <param name="client">Calls all proxies.</param>
/// <param name="single">For each proxy a client that calls it alone, without retries.</param>
/// <param name="duplicatePercent">Share of payments, and of what is done with them, that are sent
/// twice, in percent.</param>
/// <param name="random">Chooses those and their proxies.</param>
/// <param name="record">Receives what happens.</param>
/// <param name="time">The clock.</param>
internal sealed class UntilAnsweredChannel(
    BillingClient client, IReadOnlyList<BillingClient> single, int duplicatePercent, Random random,
    TrafficRecord record, TimeProvider time, CancellationToken giveUp)
    : IRequestChannel
{
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(100);

    // The callers of a channel share it.
    private readonly Lock _drawing = new();

    public long Retried => client.Retried;

    public Task<Answer<MakePaymentResponse>> PayAsync(MakePaymentRequest request) => SendAsync(
        "payment of " + StreamId.For(request.PaymentType, request.AccountId),
        (proxy, token) => proxy.MakePaymentAsync(request, token));

    public Task<Answer<CheckBalanceResponse>> CheckAsync(CheckBalanceRequest request) =>
        GivingUpAsync(CheckUntilAnsweredAsync(request));

    public Task<Answer<T>> AskAsync<T>(Func<BillingClient, CancellationToken, Task<T>> send, bool isRepeatable)
        where T : class =>
            isRepeatable ? SendAsync("follow-up", send) : GivingUpAsync(CallAsync("look-up", send, client));

    public ValueTask DisposeAsync()
    {
        client.Dispose();
        return ValueTask.CompletedTask;
    }

    private int Draw(int below)
    {
        lock (_drawing)
        {
            return random.Next(below);
        }
    }

    private static async Task<Answer<T>> GivingUpAsync<T>(Task<T> call)
        where T : class
    {
        try
        {
            return new Answer<T>(await call);
        }
        catch (OperationCanceledException)
        {
            return new Answer<T>(null, "given up");
        }
    }

    private Task<Answer<T>> SendAsync<T>(string what, Func<BillingClient, CancellationToken, Task<T>> call)
        where T : class => GivingUpAsync(single.Count > 1 && Draw(100) < duplicatePercent
            ? SendTwiceAsync(what, call)
            : CallAsync(what, call, client));

    private async Task<T> SendTwiceAsync<T>(string what, Func<BillingClient, CancellationToken, Task<T>> call)
        where T : class
    {
        var one = Draw(single.Count);
        var other = (one + 1 + Draw(single.Count - 1)) % single.Count;
        var answers = await Task.WhenAll(
            CallAsync(what, call, single[one]), CallAsync("copy of a " + what, call, single[other]));
        record.CountDuplicate();
        if (!Agree(answers[0], answers[1]))
        {
            record.Violations.Enqueue($"different answers to the same {what}: {answers[0]} and {answers[1]}");
        }
        return answers[0];
    }

    // Copies get the same answer, but one of them at most is told that it was recorded for it.
    private static bool Agree(object one, object other) => (one, other) switch
    {
        (FollowUpAnswer { Message: { } a } first, FollowUpAnswer { Message: { } b } second) =>
            first with { Message = null } == second with { Message = null } && Agree(a, b),
        (IMessage a, IMessage b) => a.AsReplay().Equals(b.AsReplay()) && (a.IsReplay() || b.IsReplay()),
        _ => one.Equals(other),
    };

    private async Task<CheckBalanceResponse> CheckUntilAnsweredAsync(CheckBalanceRequest request)
    {
        var stream = StreamId.For(request.PaymentType, request.AccountId);
        var balance = await CallAsync(
            "balance of " + stream, (proxy, token) => proxy.CheckBalanceAsync(request, token), client);
        if (balance.Version < request.MinVersion)
        {
            record.Violations.Enqueue(
                $"a balance of {stream} is older than requested: version {balance.Version}, not {request.MinVersion}");
        }
        return balance;
    }

    private async Task<T> CallAsync<T>(
        string what, Func<BillingClient, CancellationToken, Task<T>> call, BillingClient first)
    {
        var start = time.GetTimestamp();
        var tries = 1;
        for (var caller = first; ; caller = client, tries++)
        {
            try
            {
                var answer = await call(caller, giveUp);
                record.Calls.Add(start, time.GetTimestamp(), $"{what}, attempts: {tries}");
                return answer;
            }
            catch (RpcException e)
            {
                // Errors that are not retryable are also retried and counted, because every payment must have an answer
                // at the end of a soak.
                giveUp.ThrowIfCancellationRequested();
                record.CountFailure($"{e.StatusCode} {BillingClient.Reason(e)}".TrimEnd());
            }
            await Task.Delay(RetryDelay, time, giveUp);
        }
    }
}

/// <summary>What happened to the calls of a traffic. Thread-safe.</summary>
internal sealed class TrafficRecord
{
    private readonly ConcurrentDictionary<string, long> _failures = new(StringComparer.Ordinal);
    private int _duplicates;

    /// <summary>The start and end of each call.</summary>
    public CallTimes Calls { get; } = new();

    /// <summary>Invalid answers.</summary>
    public ConcurrentQueue<string> Violations { get; } = new();

    /// <summary>Number of failures after the SDK's own retries, by status and reason.</summary>
    public IReadOnlyDictionary<string, long> Failures => _failures;

    /// <summary>Number of repetitions after the SDK had given up.</summary>
    public long Repeated => _failures.Values.Sum();

    /// <summary>Number of answered requests that were sent twice.</summary>
    public int Duplicates => Volatile.Read(ref _duplicates);

    public void CountDuplicate() => Interlocked.Increment(ref _duplicates);

    public void CountFailure(string failure) => _failures.AddOrUpdate(failure, 1, static (_, count) => count + 1);
}
