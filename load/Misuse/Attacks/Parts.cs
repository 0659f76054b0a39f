using System.Text;
using Billing.Misuse.Connections;
using Billing.Misuse.Frames;

namespace Billing.Misuse.Attacks;

/// <summary>Steps that many attacks have.</summary>
internal static class Parts
{
    private const int LargestWindow = int.MaxValue;
    private const int ConnectionWindow = 1 << 30;
    private const ushort HeaderTable = 1;

    private static readonly byte[] Ping = Http2Frames.Frame(FrameKind.Ping, 0, 0, new byte[8]);

    /// <summary>Begins HTTP/2, and takes all answers.</summary>
    public static Step Begin { get; } = BeginWith(LargestWindow);

    /// <summary>Asks for an answer of the connection.</summary>
    public static Step SendPing { get; } = Steps.Send(_ => Ping);

    /// <summary>Begins HTTP/2 and reads.</summary>
    /// <param name="window">The window of each stream, in bytes.</param>
    public static Step BeginWith(int window) => Steps.Sequence(SendBeginning(window), Steps.Read);

    /// <summary>Sends the beginning of HTTP/2, and does not read.</summary>
    public static Step SendBeginning(int window) => Steps.Send(_ => BeginningWith(window));

    /// <summary>The beginning of HTTP/2.</summary>
    public static byte[] BeginningWith(int window) =>
    [
        // Without a table, answers name their statuses in words.
        .. Http2Frames.Preface, .. Http2Frames.Settings((Http2Frames.InitialWindow, (uint)window), (HeaderTable, 0u)),
        .. Http2Frames.WindowUpdate(0, ConnectionWindow),
    ];

    /// <summary>Sends a whole request over HTTP/2 on the stream of the step.</summary>
    public static Step Ask(Func<Requests, Request> which) => async (connection, end) =>
    {
        var request = which(connection.Requests);
        await SendHeadersAsync(connection, request, request.Body.Length == 0, end);
        await connection.SendDataAsync(request.Body, ends: true, end);
    };

    /// <summary>Sends a request over HTTP/2 and leaves its body open.</summary>
    public static Step AskWithoutEnd(Func<Requests, Request> which) => async (connection, end) =>
    {
        var request = which(connection.Requests);
        await SendHeadersAsync(connection, request, ends: false, end);
        await connection.SendDataAsync(request.Body, ends: false, end);
    };

    /// <summary>Sends a whole request over HTTP/1.1.</summary>
    public static Step AskInText(Func<Requests, Request> which) =>
        Steps.Send(connection => connection.Requests.Whole(which(connection.Requests)));

    /// <summary>Sends text.</summary>
    public static Step Text(Func<HostileConnection, string> text) =>
        Steps.Send(connection => Encoding.ASCII.GetBytes(text(connection)));

    private static Task SendHeadersAsync(
        HostileConnection connection, Request request, bool ends, CancellationToken end) => connection.SendAsync(
        Http2Frames.Frame(
            FrameKind.Headers, (byte)(Http2Frames.EndHeaders | (ends ? Http2Frames.EndStream : 0)), connection.StreamId,
            connection.Requests.Fields(request)),
        end);
}
