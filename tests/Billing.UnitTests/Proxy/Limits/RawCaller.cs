using System.Buffers.Binary;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Text;
using Billing.Misuse.Frames;
using Google.Protobuf;
using static Billing.Misuse.Frames.Http2Frames;

namespace Billing.UnitTests.Proxy.Limits;

/// <summary>A caller that speaks HTTP/2 by hand (RFC 9113), so that it can do what libraries do not: take nothing,
/// finish nothing. It keeps what it is sent.</summary>
internal sealed class RawCaller : IAsyncDisposable
{
    // The same flag as the end of a stream.
    private const byte Acknowledged = EndStream;

    private readonly Stream _stream;
    private readonly string _scheme;
    private readonly SemaphoreSlim _sending = new(1);
    private readonly Task _reading;
    private readonly Lock _gate = new();
    private readonly StringBuilder _fields = new();
    private readonly HashSet<int> _ended = [];
    private int _next = 1;
    private int _pings;
    private long _bodyBytes;

    private RawCaller(Stream stream, string scheme)
    {
        (_stream, _scheme) = (stream, scheme);
        _reading = Task.Run(ReadAsync);
    }

    /// <summary>Completes when the server has closed the connection.</summary>
    public Task Closed => _reading;

    /// <summary>The number of its streams that the server has ended, with an answer or a reset.</summary>
    public int Ended
    {
        get
        {
            lock (_gate)
            {
                return _ended.Count;
            }
        }
    }

    /// <summary>The bytes of bodies that it was sent.</summary>
    public long BodyBytes => Interlocked.Read(ref _bodyBytes);

    /// <summary>The number of its pings that were answered.</summary>
    public int Pings => Volatile.Read(ref _pings);

    /// <summary>The body of a call with one message of up to 64 KiB.</summary>
    public static byte[] Framed(IMessage message)
    {
        var bytes = message.ToByteArray();
        return [0, 0, 0, (byte)(bytes.Length >> 8), (byte)bytes.Length, .. bytes];
    }

    /// <summary>Connects.</summary>
    /// <param name="address">The proxy.</param>
    /// <param name="window">What it takes of each answer until it says that it takes more, in bytes.</param>
    public static async Task<RawCaller> ConnectAsync(string address, int window = 65_535)
    {
        var server = new Uri(address);
        var stream = await StreamAsync(await ConnectAsync(server.Port, IPAddress.Loopback), server);
        var caller = new RawCaller(stream, server.Scheme);
        await caller.SendAsync([.. Preface, .. Settings((InitialWindow, (uint)window))]);
        return caller;
    }

    /// <summary>Connects to a port of this machine.</summary>
    /// <param name="port">The port.</param>
    /// <param name="from">The address that the server sees: any of 127.0.0.0/8.</param>
    public static async Task<Socket> ConnectAsync(int port, IPAddress from)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        socket.Bind(new IPEndPoint(from, 0));
        try
        {
            await socket.ConnectAsync(IPAddress.Loopback, port);
        }
        catch (SocketException e) when (e.SocketErrorCode == SocketError.ConnectionReset)
        {
            // Closed as soon as it was there, which who reads from it finds out, too.
        }
        return socket;
    }

    /// <summary>Begins calls of a method, each with a part of its body, or with its headers only.</summary>
    /// <returns>The first one's stream; each further one has the next odd number.</returns>
    public async Task<int> CallAsync(string method, int calls, byte[] body, bool isWhole)
    {
        var first = _next;
        var frames = new MemoryStream();
        for (var i = 0; i < calls; i++, _next += 2)
        {
            frames.Write(Frame(FrameKind.Headers, EndHeaders, _next, FieldsOf(method)));
            if (body.Length > 0)
            {
                frames.Write(Frame(FrameKind.Data, isWhole ? EndStream : (byte)0, _next, body));
            }
        }
        await SendAsync(frames.ToArray());
        return first;
    }

    /// <summary>Sends a further part of a body.</summary>
    public Task SendAsync(int stream, byte[] body, bool isEnd = false) =>
        SendAsync(Frame(FrameKind.Data, isEnd ? EndStream : (byte)0, stream, body));

    /// <summary>Takes so many more bytes of an answer, or with 0 of all answers together.</summary>
    public Task TakeAsync(int stream, int bytes) => SendAsync(WindowUpdate(stream, bytes));

    /// <summary>Asks the server for a sign of life.</summary>
    public Task PingAsync() => SendAsync(Frame(FrameKind.Ping, 0, 0, new byte[8]));

    /// <summary>Whether a text is in the fields of its answers.</summary>
    public bool WasTold(string text)
    {
        lock (_gate)
        {
            return _fields.ToString().Contains(text, StringComparison.Ordinal);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stream.DisposeAsync();
        await _reading;
        _sending.Dispose();
    }

    private byte[] FieldsOf(string path) => Fields(
        (":method", "POST"), (":scheme", _scheme), (":path", path), (":authority", "localhost"),
        ("content-type", "application/grpc"), ("te", "trailers"));

    private static async Task<Stream> StreamAsync(Socket socket, Uri server)
    {
        if (!socket.Connected)
        {
            socket.Dispose();
            return Stream.Null;
        }
        var plain = new NetworkStream(socket, ownsSocket: true);
        if (server.Scheme == Uri.UriSchemeHttp)
        {
            return plain;
        }
        var tls = new SslStream(plain, leaveInnerStreamOpen: false, (_, own, _, _) => own is not null);
        await tls.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
        {
            TargetHost = server.Host,
            ApplicationProtocols = [SslApplicationProtocol.Http2],
        });
        return tls;
    }

    private async Task SendAsync(byte[] bytes)
    {
        await _sending.WaitAsync();
        try
        {
            await _stream.WriteAsync(bytes);
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException)
        {
            // The server has closed the connection, which the reader finds out, too.
        }
        finally
        {
            _sending.Release();
        }
    }

    private async Task ReadAsync()
    {
        try
        {
            var header = new byte[HeaderBytes];
            while (await _stream.ReadAtLeastAsync(header, HeaderBytes, throwOnEndOfStream: false) == HeaderBytes)
            {
                var payload = new byte[(header[0] << 16) | (header[1] << 8) | header[2]];
                await _stream.ReadExactlyAsync(payload);
                await TakeAsync(header, payload);
            }
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException or EndOfStreamException)
        {
            // Closed by either side.
        }
    }

    private async Task TakeAsync(byte[] header, byte[] payload)
    {
        var (kind, flags) = ((FrameKind)header[3], header[4]);
        switch (kind)
        {
            case FrameKind.Settings when (flags & Acknowledged) == 0:
                await SendAsync(Frame(FrameKind.Settings, Acknowledged, 0));
                break;
            case FrameKind.Ping:
                Interlocked.Increment(ref _pings);
                break;
            case FrameKind.Data:
                Interlocked.Add(ref _bodyBytes, payload.Length);
                break;
        }
        lock (_gate)
        {
            if (kind is FrameKind.Headers or FrameKind.GoAway)
            {
                _fields.Append(Encoding.ASCII.GetString(payload));
            }
            if (kind == FrameKind.Reset || (kind is FrameKind.Data or FrameKind.Headers && (flags & EndStream) != 0))
            {
                _ended.Add(BinaryPrimitives.ReadInt32BigEndian(header.AsSpan(5)));
            }
        }
    }
}
