using Billing.V1;
using Google.Protobuf;

namespace Billing.Simulation.Doors;

/// <summary>How a caller writes ids and names.</summary>
internal enum Letters
{
    /// <summary>All letters small.</summary>
    Small,

    /// <summary>All letters capital.</summary>
    Capital,

    /// <summary>Both, as comes.</summary>
    Mixed,
}

/// <summary>Ids and names in different letters, which mean the same.</summary>
internal static class LettersExtensions
{
    private static readonly string[] Ids = ["transaction_id", "payment_id"];

    /// <summary>A text in these letters.</summary>
    public static string Write(this Letters letters, string text) => letters switch
    {
        Letters.Small => text.ToLowerInvariant(),
        Letters.Capital => text.ToUpperInvariant(),
        _ => string.Concat(text.Select((c, i) => i % 2 == 0 ? char.ToUpperInvariant(c) : char.ToLowerInvariant(c))),
    };

    /// <summary>A message with the ids in these letters.</summary>
    public static T Write<T>(this Letters letters, T message)
        where T : class, IMessage<T>
    {
        var copy = message.Clone();
        foreach (var name in Ids)
        {
            if (EntryOf(copy).Descriptor.FindFieldByName(name)?.Accessor is { } field)
            {
                field.SetValue(EntryOf(copy), letters.Write((string)field.GetValue(EntryOf(copy))));
            }
        }
        return copy;
    }

    /// <summary>Whether an answer repeats the ids of its request as they were sent.</summary>
    public static bool Repeats(this IMessage answer, IMessage request) => Array.TrueForAll(
        Ids,
        name => TextIn(answer, name) is not { } answered || TextIn(request, name) is not { } sent || answered == sent);

    private static string? TextIn(IMessage message, string name) =>
        (string?)EntryOf(message).Descriptor.FindFieldByName(name)?.Accessor.GetValue(EntryOf(message));

    // The ids in the answer to a look-up are in its entry.
    private static IMessage EntryOf(IMessage message) =>
        message is GetTransactionResponse { Entry: var entry } ? entry : message;
}
