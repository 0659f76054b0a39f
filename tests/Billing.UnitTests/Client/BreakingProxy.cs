using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Billing.UnitTests.Client;

/// <summary>A server that accepts HTTP/2 connections and closes the connection on every call instead of
/// answering it.</summary>
internal sealed class BreakingProxy : IDisposable
{
    private const byte Headers = 1;
    private const int PrefaceBytes = 24;
    private const int FrameHeaderBytes = 9;

    // Frames of RFC 9113: empty SETTINGS; GOAWAY after stream 2^31 - 1 without an error.
    private static readonly byte[] Settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    private static readonly byte[] GoAway = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0];

    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly bool _sendsGoAway;

    public BreakingProxy(bool sendsGoAway)
    {
        _sendsGoAway = sendsGoAway;
        _listener.Start();
        _ = AcceptAsync();
    }

    public string Address =>
        string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}");

    public void Dispose() => _listener.Dispose();

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                _ = BreakAsync(await _listener.AcceptTcpClientAsync());
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The test is over.
        }
    }

    private async Task BreakAsync(TcpClient connection)
    {
        using (connection)
        {
            var stream = connection.GetStream();
            await stream.WriteAsync(Settings);
            await stream.ReadExactlyAsync(new byte[PrefaceBytes]);
            var header = new byte[FrameHeaderBytes];
            do
            {
                await stream.ReadExactlyAsync(header);
                await stream.ReadExactlyAsync(new byte[(header[0] << 16) | (header[1] << 8) | header[2]]);
            }
            while (header[3] != Headers);
            if (_sendsGoAway)
            {
                await stream.WriteAsync(GoAway);
            }
        }
    }
}
