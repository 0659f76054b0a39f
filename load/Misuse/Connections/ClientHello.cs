using System.Net.Security;

namespace Billing.Misuse.Connections;

/// <summary>The first message of a TLS handshake, for those that send it in another way than TLS would.</summary>
internal static class ClientHello
{
    /// <summary>Returns a message as this runtime's TLS sends it.</summary>
    /// <param name="protocol">The protocol that it asks for.</param>
    public static byte[] Create(SslApplicationProtocol protocol)
    {
        using var silent = new Silent();
        using var tls = new SslStream(silent);
        try
        {
            tls.AuthenticateAsClient(
                new SslClientAuthenticationOptions { TargetHost = "localhost", ApplicationProtocols = [protocol] });
        }
        catch (IOException)
        {
            // Nobody answers it.
        }
        return silent.Sent.ToArray();
    }

    /// <summary>A peer that takes everything and ends.</summary>
    private sealed class Silent : Stream
    {
        public MemoryStream Sent { get; } = new();

        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => true;

        public override long Length => throw new NotSupportedException();

        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        public override int Read(byte[] buffer, int offset, int count) => 0;

        public override void Write(byte[] buffer, int offset, int count) => Sent.Write(buffer, offset, count);

        public override void Flush()
        {
        }

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();
    }
}
