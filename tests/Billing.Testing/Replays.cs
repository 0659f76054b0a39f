using Google.Protobuf;

namespace Billing.Testing;

/// <summary>Answers to requests that are sent again.</summary>
public static class Replays
{
    /// <summary>The answer as it comes when its request is sent again.</summary>
    public static T AsReplay<T>(this T answer)
        where T : IMessage<T>
    {
        var again = answer.Clone();
        answer.Descriptor.FindFieldByName("replayed").Accessor.SetValue(again, true);
        return again;
    }
}
