using Billing.Driver;
using Billing.Misuse.Attacks;
using Billing.Misuse.Connections;

namespace Billing.Misuse;

/// <summary>The hostile callers of one attack: each makes its connection, goes through the attack's steps, and makes
/// another connection when that one is over.</summary>
internal sealed class Attacker(AttackOrder order)
{
    // Connections per second of all callers after their first ones.
    private const double AgainPerSecond = 500;

    // How long a caller that has done everything waits for answers before it makes another connection.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    private readonly Attack _attack = Catalogue.Named(order.Attack);
    private readonly Step _steps = Catalogue.Named(order.Attack).StepsAt(order.Front)
        ?? throw new InvalidOperationException($"{order.Attack} is not possible at {order.Front}.");

    private readonly Tally _tally = new();
    private readonly Pace _pace = new(AgainPerSecond, TimeProvider.System);

    /// <summary>What has become of it so far.</summary>
    public AttackResult Result => _tally.Result();

    /// <summary>Attacks until a token is cancelled.</summary>
    public async Task<AttackResult> RunAsync(CancellationToken end)
    {
        await Task.WhenAll(Enumerable.Range(0, order.Layout.Connections).Select(number =>
            Task.Run(() => CallAsync(number, end), CancellationToken.None)));
        return Result;
    }

    private async Task CallAsync(int number, CancellationToken end)
    {
        for (var life = 0; !end.IsCancellationRequested; life++)
        {
            var random = new Random(unchecked((order.Seed * 31) + (number * 1_009) + life));
            await using var connection = new HostileConnection(order, random, _tally);
            try
            {
                if (life > 0)
                {
                    await _pace.TakeTurnAsync(end);
                }
                if (await connection.ConnectAsync(_attack.IsBare, _attack.ReceivesLittle, end))
                {
                    await _steps(connection, end);
                    await connection.Over.WaitAsync(Patience, end);
                }
            }
            catch (Exception e) when (e is OperationCanceledException or TimeoutException)
            {
                // The attack is over, or there are no more answers.
            }
        }
    }
}
