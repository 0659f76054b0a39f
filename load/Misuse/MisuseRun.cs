using Billing.Client;
using Billing.Contracts;
using Billing.Driver.Channels;
using Billing.Messaging.Requests;
using Billing.Misuse.Attacks;
using Billing.Misuse.Watching;
using Billing.V1;

namespace Billing.Misuse;

/// <summary>Lets hostile callers loose on a stack, one shape after the other, while others pay.</summary>
/// <param name="stack">The stack, which has just started.</param>
/// <param name="say">Takes lines about the progress.</param>
internal sealed class MisuseRun(LimitedStack stack, MisuseOptions options, TimeProvider time, Action<string> say)
    : IAsyncDisposable
{
    private const string LongAccount = "misuse-long";
    private const int QuietWindows = 5;

    private static readonly TimeSpan TokenLifetime = TimeSpan.FromDays(2);

    private readonly Assault _assault = new(stack, options, LongAccount);
    private readonly Dictionary<bool, OtherCallers> _others = [];
    private readonly Dictionary<bool, Queue<OthersFigures>> _quiet = [];

    /// <summary>Tries the shapes.</summary>
    /// <returns>Those that were tried, in order.</returns>
    public async Task<IReadOnlyList<Trial>> RunAsync(CancellationToken cancellationToken)
    {
        await PrepareAsync(cancellationToken);
        var trials = new List<Trial>();
        var start = time.GetTimestamp();
        foreach (var shape in options.Shapes)
        {
            if (trials.Count >= options.AlwaysFirst && time.GetElapsedTime(start) >= options.Duration)
            {
                break;
            }
            say($"{shape.Name} ...");
            var trial = await TryAsync(shape, cancellationToken);
            if (trial.Wrong is [var only] && only == Verdict.Slowness(trial.Facts))
            {
                // Others on this machine slow it down by chance, and not twice in a row.
                say($"{shape.Name}: {only}; once more");
                trial = await TryAsync(shape, cancellationToken);
            }
            say(MisuseTable.Line(trial));
            trials.Add(trial);
            if (await stack.RestartEndedAsync(cancellationToken))
            {
                // Otherwise the first callers of the next shape would wait before they connect again.
                await DisposeAsync();
                Connect();
            }
        }
        return trials;
    }

    /// <summary>Closes the connections of the others.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var others in _others.Values)
        {
            await others.DisposeAsync();
        }
    }

    private async Task PrepareAsync(CancellationToken cancellationToken)
    {
        Connect();
        say($"{options.LongAccountEvents} payments make an account with a long statement");
        await MakeLongAccountAsync(cancellationToken);
        foreach (var others in _others.Values)
        {
            using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            enough.CancelAfter(options.WarmUp);
            await others.PayAsync(enough.Token);
        }
    }

    private void Connect()
    {
        var token = Token("others");
        foreach (var hasTls in (bool[])[false, true])
        {
            var proxy = stack.Proxy(hasTls);
            _others[hasTls] = new OtherCallers(proxy.Address, proxy.RestAddress!, stack.Credentials, token);
            _quiet.TryAdd(hasTls, new Queue<OthersFigures>());
        }
    }

    private async Task<Trial> TryAsync(Shape shape, CancellationToken cancellationToken)
    {
        var hasTls = Connections.AttackOrder.HasTls(shape.Front);
        var (others, quiet) = (_others[hasTls], _quiet[hasTls]);
        quiet.Enqueue(await _assault.WatchQuietAsync(others, cancellationToken));
        if (quiet.Count > QuietWindows)
        {
            quiet.Dequeue();
        }
        var (result, facts) = await _assault.RunAsync(
            shape, others, OthersFigures.P99Ms(quiet), Token("attacker"), cancellationToken);
        List<string> wrong = [.. Verdict.Harm(facts)];
        if (options.JudgesWaits && Verdict.Slowness(facts) is { } slowness)
        {
            wrong.Add(slowness);
        }
        return new Trial(shape, facts, result, wrong);
    }

    private string Token(string subject) => stack.Credentials.Token(
        subject, [Scopes.PaymentsWrite, Scopes.AccountsRead], ["*/*"], TokenLifetime, time);

    private async Task MakeLongAccountAsync(CancellationToken cancellationToken)
    {
        var client = new BillingClientOptions { Token = Token("long") };
        client.Proxies.Add(stack.Proxy(hasTls: false).Address);
        using var billing = new BillingClient(client, time);
        await foreach (var answer in billing.MakePaymentsAsync(PaymentsAsync(), cancellationToken))
        {
            if (answer.ResultCase != MakePaymentsResponse.ResultOneofCase.Payment)
            {
                throw new InvalidOperationException($"A payment of the long account got {answer}.");
            }
        }
    }

    private async IAsyncEnumerable<MakePaymentRequest> PaymentsAsync()
    {
        for (var i = 0; i < options.LongAccountEvents; i++)
        {
            yield return new MakePaymentRequest
            {
                TransactionId = Guid.CreateVersion7().ToString(),
                AccountId = LongAccount,
                PaymentType = PaymentType.Visa,
                Amount = 1m.ToMoney("USD"),
            };
            await Task.CompletedTask;
        }
    }
}
