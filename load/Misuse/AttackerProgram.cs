using System.Text.Json;
using Billing.Misuse.Connections;

namespace Billing.Misuse;

/// <summary>A process of hostile callers, apart from the one that judges: <c>ORDER RESULT</c>, both files.</summary>
internal static class AttackerProgram
{
    /// <summary>Attacks as the order says, and writes what became of it.</summary>
    /// <returns>The exit code.</returns>
    public static async Task<int> RunAsync(string[] arguments)
    {
        var order = AttackJson.ReadOrder(arguments[0]);
        var lasts = TimeSpan.FromSeconds(order.Seconds);
        var result = order.Attack.Length > 0 ? await AttackAsync(order, lasts) : Compute(lasts);
        await File.WriteAllBytesAsync(
            arguments[1], JsonSerializer.SerializeToUtf8Bytes(result, AttackJson.Default.AttackResult));
        return 0;
    }

    private static async Task<AttackResult> AttackAsync(AttackOrder order, TimeSpan lasts)
    {
        using var end = new CancellationTokenSource(lasts, TimeProvider.System);
        return await new Attacker(order).RunAsync(end.Token);
    }

    // As much processor time as an attack may take, and nothing sent: what others feel of it is the machine's, and not
    // the platform's.
    private static AttackResult Compute(TimeSpan lasts)
    {
        var start = TimeProvider.System.GetTimestamp();
        while (TimeProvider.System.GetElapsedTime(start) < lasts)
        {
        }
        return new Tally().Result();
    }
}
