using System.Buffers.Binary;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Text;
using Google.Protobuf;

namespace Billing.UnitTests.Proxy.Limits;

/// <summary>A caller that speaks HTTP/2 by hand (RFC 9113), so that it can do what libraries do not: take nothing,
/// finish nothing. It keeps what it is sent.</summary>
internal sealed class RawCaller : IAsyncDisposable
{
    private const byte Data = 0, Headers = 1, Reset = 3, Settings = 4, Ping = 6, GoAway = 7, WindowUpdate = 8;
    private const byte EndStream = 1, EndHeaders = 4, Ack = 1;
    private const int HeaderBytes = 9;

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
        var settings = new byte[6];
        settings[1] = 4;
        BinaryPrimitives.WriteInt32BigEndian(settings.AsSpan(2), window);
        var caller = new RawCaller(stream, server.Scheme);
        await caller.SendAsync([.. "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8, .. Frame(Settings, 0, 0, settings)]);
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

    /// <summary>Begins calls of a method, each with a part of its body.</summary>
    /// <returns>The first one's stream; each further one has the next odd number.</returns>
    public async Task<int> CallAsync(string method, int calls, byte[] body, bool isWhole)
    {
        var first = _next;
        var frames = new MemoryStream();
        for (var i = 0; i < calls; i++, _next += 2)
        {
            frames.Write(Frame(Headers, EndHeaders, _next, Fields(method)));
            frames.Write(Frame(Data, isWhole ? EndStream : (byte)0, _next, body));
        }
        await SendAsync(frames.ToArray());
        return first;
    }

    /// <summary>Sends a further part of a body.</summary>
    public Task SendAsync(int stream, byte[] body, bool isEnd = false) =>
        SendAsync(Frame(Data, isEnd ? EndStream : (byte)0, stream, body));

    /// <summary>Takes so many more bytes of an answer, or with 0 of all answers together.</summary>
    public Task TakeAsync(int stream, int bytes)
    {
        var payload = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(payload, bytes);
        return SendAsync(Frame(WindowUpdate, 0, stream, payload));
    }

    /// <summary>Asks the server for a sign of life.</summary>
    public Task PingAsync() => SendAsync(Frame(Ping, 0, 0, new byte[8]));

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

    private byte[] Fields(string path)
    {
        var fields = new List<byte>();
        foreach (var (name, value) in new[]
        {
            (":method", "POST"), (":scheme", _scheme), (":path", path), (":authority", "localhost"),
            ("content-type", "application/grpc"), ("te", "trailers"),
        })
        {
            // Literals without an index, so that no table is needed.
            fields.AddRange(
                [
                    0, (byte)name.Length, .. Encoding.ASCII.GetBytes(name),
                    (byte)value.Length, .. Encoding.ASCII.GetBytes(value),
                ]);
        }
        return [.. fields];
    }

    private static byte[] Frame(byte kind, byte flags, int stream, ReadOnlySpan<byte> payload)
    {
        var frame = new byte[HeaderBytes + payload.Length];
        (frame[0], frame[1], frame[2], frame[3], frame[4]) =
            ((byte)(payload.Length >> 16), (byte)(payload.Length >> 8), (byte)payload.Length, kind, flags);
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(5), stream);
        payload.CopyTo(frame.AsSpan(HeaderBytes));
        return frame;
    }

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
        var (kind, flags) = (header[3], header[4]);
        switch (kind)
        {
            case Settings when (flags & Ack) == 0:
                await SendAsync(Frame(Settings, Ack, 0, []));
                break;
            case Ping:
                Interlocked.Increment(ref _pings);
                break;
            case Data:
                Interlocked.Add(ref _bodyBytes, payload.Length);
                break;
        }
        lock (_gate)
        {
            if (kind == Headers || kind == GoAway)
            {
                _fields.Append(Encoding.ASCII.GetString(payload));
            }
            if (kind == Reset || (kind is Data or Headers && (flags & EndStream) != 0))
            {
                _ended.Add(BinaryPrimitives.ReadInt32BigEndian(header.AsSpan(5)));
            }
        }
    }
}
