using System.Text;

namespace Billing.Misuse.Connections;

/// <summary>Reads what a proxy sends, and counts the answers.</summary>
internal interface IAnswers
{
    /// <summary>Takes the next bytes.</summary>
    void Read(ReadOnlySpan<byte> bytes);

    /// <summary>The connection is over: nobody waits for it any more.</summary>
    void End();
}

/// <summary>Answers over HTTP/1.1: only their first lines count.</summary>
internal sealed class Http1Answers(Tally tally) : IAnswers
{
    private const int StatusBytes = 3;
    private static readonly byte[] Version = "HTTP/1.1 "u8.ToArray();

    private byte[] _rest = [];

    public void Read(ReadOnlySpan<byte> bytes)
    {
        ReadOnlySpan<byte> all = [.. _rest, .. bytes];
        while (all.IndexOf(Version) is >= 0 and var at && all.Length >= at + Version.Length + StatusBytes)
        {
            var status = Encoding.ASCII.GetString(all.Slice(at + Version.Length, StatusBytes));
            // 100 only lets the body come.
            if (status != "100")
            {
                tally.Answered(status[0] == '2' ? null : status);
            }
            all = all[(at + Version.Length + StatusBytes)..];
        }
        _rest = all[Math.Max(0, all.Length - Version.Length - StatusBytes + 1)..].ToArray();
    }

    public void End()
    {
    }
}
