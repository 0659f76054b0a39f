using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Billing.Misuse.Frames;

namespace Billing.Misuse.Connections;

/// <summary>A connection of a hostile caller. One step of its attack uses it at a time; what the proxy sends is read
/// beside it, or not at all.</summary>
/// <param name="random">Chooses what the attack leaves open.</param>
internal sealed class HostileConnection(AttackOrder order, Random random, Tally tally) : IAsyncDisposable
{
    private const int BufferBytes = 16 * 1024;

    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly TaskCompletionSource _over = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Stream _stream = Stream.Null;
    private IAnswers? _answers;
    private Task _reading = Task.CompletedTask;
    private bool _isConnected;
    private bool _isRefused;
    private ConnectionEnd _end = ConnectionEnd.Held;

    /// <summary>Chooses what the attack leaves open.</summary>
    public Random Random => random;

    /// <summary>The requests as the front takes them.</summary>
    public Requests Requests { get; } = new(order, random);

    /// <summary>Number of streams or requests that the attack has on it.</summary>
    public int Streams => order.Layout.Streams;

    /// <summary>The streams that were opened, oldest first.</summary>
    public List<int> Opened { get; } = [];

    /// <summary>The stream of the step.</summary>
    public int StreamId { get; set; }

    /// <summary>Ends when the proxy has ended the connection, as far as that is read or written to.</summary>
    public Task Over => _over.Task;

    /// <summary>Makes the connection.</summary>
    /// <param name="isBare">Whether it stays without TLS where the front has it.</param>
    /// <param name="receivesLittle">Whether the system takes as little as it can of what is not read.</param>
    /// <returns>False if it was refused.</returns>
    public async Task<bool> ConnectAsync(bool isBare, bool receivesLittle, CancellationToken end)
    {
        _socket.NoDelay = true;
        if (receivesLittle)
        {
            _socket.ReceiveBufferSize = 1;
        }
        try
        {
            _socket.Bind(new IPEndPoint(IPAddress.Parse(order.From), 0));
            await _socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, order.Port), end);
            _stream = new NetworkStream(_socket);
            _isConnected = true;
            tally.Made();
            if (AttackOrder.HasTls(order.Front) && !isBare)
            {
                await ShakeHandsAsync(end);
            }
            return true;
        }
        catch (Exception e) when (IsOver(e))
        {
            _isRefused = !_isConnected;
            Note(e);
            return false;
        }
    }

    /// <summary>Chooses the number of the next stream, which becomes that of the step.</summary>
    public void OpenStream()
    {
        // A client's streams have odd numbers (RFC 9113, section 5.1.1).
        StreamId = (2 * Opened.Count) + 1;
        Opened.Add(StreamId);
    }

    /// <summary>Whether the proxy has ended a stream.</summary>
    public bool HasEnded(int stream) => ((Http2Answers)_answers!).HasEnded(stream);

    /// <summary>Begins to read what the proxy sends, as fast as it comes.</summary>
    public void Read()
    {
        if (_answers is null)
        {
            _answers = AttackOrder.IsHttp2(order.Front)
                ? new Http2Answers(tally, AttackOrder.IsGrpc(order.Front))
                : new Http1Answers(tally);
            _reading = ReadAsync(_answers);
        }
    }

    /// <summary>Sends bytes as they are.</summary>
    public async Task SendAsync(ReadOnlyMemory<byte> bytes, CancellationToken end)
    {
        try
        {
            await _stream.WriteAsync(bytes, end);
            tally.Sent(bytes.Length);
        }
        catch (Exception e) when (IsOver(e))
        {
            Note(e);
        }
    }

    /// <summary>Sends a body on the stream of the step, in frames and as fast as the proxy's windows allow.</summary>
    public async Task SendDataAsync(ReadOnlyMemory<byte> data, bool ends, CancellationToken end)
    {
        var answers = (Http2Answers)_answers!;
        while (data.Length > 0 && !Over.IsCompleted)
        {
            var open = await answers.TakeAsync(StreamId, Math.Min(data.Length, Http2Frames.PayloadMax), end);
            if (open == 0)
            {
                return;
            }
            var flags = ends && open == data.Length ? Http2Frames.EndStream : (byte)0;
            await SendAsync(Http2Frames.Frame(FrameKind.Data, flags, StreamId, data.Span[..open]), end);
            data = data[open..];
        }
    }

    /// <summary>Takes a part of the windows of the step's stream and of the connection, for what is not plain
    /// data.</summary>
    /// <returns>False if the stream is over.</returns>
    public async Task<bool> TakeWindowAsync(int bytes, CancellationToken end)
    {
        var answers = (Http2Answers)_answers!;
        while (bytes > 0)
        {
            var open = await answers.TakeAsync(StreamId, bytes, end);
            if (open == 0)
            {
                return false;
            }
            bytes -= open;
        }
        return true;
    }

    /// <summary>Says that nothing more is sent, and goes on to read.</summary>
    public void EndSending()
    {
        try
        {
            _socket.Shutdown(SocketShutdown.Send);
        }
        catch (SocketException e)
        {
            Note(e);
        }
    }

    /// <summary>Closes the connection.</summary>
    /// <param name="resets">Whether with a reset, so that the proxy is not told in order.</param>
    public void Close(bool resets)
    {
        if (resets)
        {
            _socket.LingerState = new LingerOption(true, 0);
        }
        _socket.Dispose();
        _over.TrySetResult();
    }

    /// <summary>Closes the connection and counts how it ended.</summary>
    public async ValueTask DisposeAsync()
    {
        _socket.Dispose();
        await _reading;
        try
        {
            await _stream.DisposeAsync();
        }
        catch (Exception e) when (IsOver(e))
        {
            // TLS says goodbye to nobody.
        }
        if (_isConnected)
        {
            tally.Ended(_end);
        }
        else if (_isRefused)
        {
            tally.Unreached();
        }
    }

    private async Task ShakeHandsAsync(CancellationToken end)
    {
        var tls = new SslStream(_stream);
        _stream = tls;
        await tls.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = "localhost",
                ApplicationProtocols =
                [
                    AttackOrder.IsHttp2(order.Front)
                        ? SslApplicationProtocol.Http2
                        : SslApplicationProtocol.Http11,
                ],
                CertificateChainPolicy = new X509ChainPolicy
                {
                    TrustMode = X509ChainTrustMode.CustomRootTrust,
                    RevocationMode = X509RevocationMode.NoCheck,
                    CustomTrustStore = { X509CertificateLoader.LoadCertificateFromFile(order.CaFile!) },
                },
            },
            end);
    }

    private async Task ReadAsync(IAnswers answers)
    {
        var buffer = new byte[BufferBytes];
        try
        {
            while (await _stream.ReadAsync(buffer) is > 0 and var count)
            {
                answers.Read(buffer.AsSpan(0, count));
            }
            End(ConnectionEnd.Closed);
        }
        catch (Exception e) when (IsOver(e))
        {
            Note(e);
        }
        answers.End();
    }

    private static bool IsOver(Exception e) =>
        e is IOException or SocketException or ObjectDisposedException
            or System.Security.Authentication.AuthenticationException;

    // What was disposed of here was not ended by the proxy.
    private void Note(Exception e)
    {
        var code = (e as SocketException ?? e.InnerException as SocketException)?.SocketErrorCode;
        if (code is not (SocketError.OperationAborted or SocketError.Interrupted) && e is not ObjectDisposedException)
        {
            End(code == SocketError.ConnectionReset ? ConnectionEnd.Aborted : ConnectionEnd.Closed);
        }
        _over.TrySetResult();
    }

    // The first end counts: what follows comes from it.
    private void End(ConnectionEnd end)
    {
        if (_end == ConnectionEnd.Held)
        {
            _end = end;
        }
        _over.TrySetResult();
    }
}
